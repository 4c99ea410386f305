/** Counts the turns of the event loop meanwhile: code that blocks it leaves few. */
export function countTurns(): { stop(): number } {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns++;
    next = setImmediate(turn);
  });
  return {
    stop() {
      clearImmediate(next);
      return turns;
    },
  };
}
