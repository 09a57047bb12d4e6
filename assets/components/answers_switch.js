// The link to the guide and the switch that hides all answers, once for all tabs.
BertExplorer.define("AnswersSwitch", ({ element }) => {
  element.querySelector(".bx-answers").append(BertGuide.link(), BertAnswers.button());
  return () => {};
});
