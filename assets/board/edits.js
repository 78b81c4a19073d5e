// What was done in the browser, each edit with a number: sent again until the page has received it, as a run of the page that another one
// cuts short receives nothing. Received twice it is done once.

const AGAIN = 2500; // milliseconds in which an idle page receives an edit; then twice as many

export class Edits {
  constructor() {
    this.who = Math.random().toString(36).slice(2);
    this.count = 0;
    this.waiting = []; // edits that the page has not received
  }

  // `say` takes {who, edits}; of what `who` said the page has received all up to the number `done`.
  update(say, who, done) {
    this.say = say;
    if (who === this.who) this.waiting = this.waiting.filter((edit) => edit.n > done);
  }

  add(edit) {
    this.waiting.push({ n: (this.count += 1), ...edit });
    this.send(AGAIN);
  }

  send(after) {
    clearTimeout(this.timer);
    if (!this.waiting.length) return;
    this.say({ who: this.who, edits: this.waiting });
    this.timer = setTimeout(() => this.send(2 * after), after);
  }

  destroy() {
    clearTimeout(this.timer);
  }
}
