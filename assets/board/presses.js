// What was pressed, sent again until the page has received it: a run of the page that another one cuts short receives nothing.

const AGAIN = 2500; // milliseconds in which an idle page receives it
const TRIES = 12;

export class Presses {
  constructor() {
    this.who = Math.random().toString(36).slice(2);
    this.count = 0;
    this.waiting = [];
  }

  // `send` takes {who, presses: [{n, kind, value}]}; `received` is {who, n}: the number of the last press that came there.
  update(send, received) {
    this.send = send;
    if (received?.who === this.who) this.waiting = this.waiting.filter((press) => press.n > received.n);
    if (!this.waiting.length) clearTimeout(this.timer);
  }

  press(kind, value) {
    this.waiting.push({ n: (this.count += 1), kind, value });
    this.tell(TRIES);
  }

  tell(tries) {
    clearTimeout(this.timer);
    if (!this.waiting.length || !tries) return;
    this.send({ who: this.who, presses: this.waiting });
    this.timer = setTimeout(() => this.tell(tries - 1), AGAIN);
  }

  destroy() {
    clearTimeout(this.timer);
  }
}
