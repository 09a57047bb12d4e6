// The switch that hides all answers, once in every tab.
BertExplorer.define("AnswersSwitch", ({ element }) => {
  element.querySelector(".bx-answers").append(BertAnswers.button());
  return () => {};
});
