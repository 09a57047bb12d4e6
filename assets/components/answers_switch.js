// The link to the guide and the switch that hides all answers, once for all tabs.
import { answersButton } from "../answers.js";
import { define } from "../shared/mounting.js";
import { guideLink } from "./guide_link.js";

define("AnswersSwitch", ({ element }) => {
  element.querySelector(".bx-answers").append(guideLink(), answersButton());
  return () => {};
});
