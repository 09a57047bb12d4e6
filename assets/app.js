// The app's page: what starts with it, and what Gradio's listeners and the tests may call.
import * as answers from "./answers.js";
import * as room from "./classroom/room.js";
import "./components/common.js";
import "./components/picture.js";
import { paintFirst } from "./first.js";
import { listenForTerms, markFinding, watchTexts } from "./glossary/terms.js";
import "./keyboard.js";
import * as lessons from "./lessons.js";
import * as link from "./link.js";
import * as page from "./page.js";
import { watchBoxes } from "./page/boxes.js";
import * as drawing from "./page/drawing.js";
import { find, listenForFinder, openFinder } from "./page/finder.js";
import { watchOutdated } from "./page/outdated.js";
import { told } from "./page/told.js";
import * as typing from "./page/typing.js";
import { present } from "./present.js";
import { host } from "./shared/mounting.js";
import { fromServer, loadPlotlyBy } from "./shared/plotly.js";
import { saveFrontEndWork } from "./statuses.js";
import * as take from "./take.js";

host.page = {
  draw: drawing.draw,
  open: drawing.open,
  wish: drawing.wish,
  query: () => link.linkState.query,
  resume: drawing.drawn,
  file: take.file,
  take: take.show,
  markFinding,
};
loadPlotlyBy(() => typing.quiet().then(fromServer)); // never before the page's pending calls

Object.assign(window.BertExplorer, {
  page: { ...page, ...drawing, ...typing, present, paintFirst, openFinder, find },
  link,
  take,
  answers,
  lessons,
  room,
  told,
});

document.addEventListener("bert:call", ({ detail: { number, stage } }) => {
  const end = told.ends[number];
  if (end && (stage === "complete" || stage === "error")) setTimeout(() => window.BertExplorer.page[end]()); // once Gradio is done with it
});

page.showWhenComplete();
typing.listenToTyping();
drawing.listenToTabs();
watchOutdated();
watchBoxes();
page.labelHeader();
page.watchBar();
page.describeModels();
link.listenToHistory();
answers.watchAnswers();
listenForFinder();
listenForTerms();
room.resumeRoom();
lessons.openLinkedStep();
watchTexts();
saveFrontEndWork();
