/** Counts the turns that the event loop makes meanwhile: something that blocks it leaves it few. */
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
