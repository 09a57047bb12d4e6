// Keyboard moves between buttons in a grid, or in a line.
import { along, inGrid } from "../arithmetic/moves.js";

/**
 * Keyboard moves with the focus: arrows to the next button, Home and End along the row, Page up and Page down along the column.
 * `grid()` gives the buttons, row by row; without `columns` they are one line.
 */
export function gridKeys(box, grid, moved) {
  box.addEventListener("keydown", (event) => {
    const { columns, buttons } = grid();
    const index = buttons.indexOf(event.target.closest("button"));
    const next = columns ? inGrid(event, index, columns, buttons.length) : along(event, index, buttons.length);
    if (next < 0) return;
    event.preventDefault();
    if (next === index) return;
    buttons[next].focus();
    moved(next);
  });
}
