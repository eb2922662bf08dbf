import { Component, type ComponentChild, type FunctionComponent, h } from "preact";

/** Draws a part of the page anew only if one of its properties is another one. */
export function memo<P extends object>(part: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !areEqual(this.props, next);
    }

    override render(): ComponentChild {
      return h(part, this.props);
    }
  }
  return (props) => h(Memo, props);
}

function areEqual(before: object, after: object): boolean {
  const [old, entries] = [new Map(Object.entries(before)), Object.entries(after)];
  return old.size === entries.length && entries.every(([name, value]) => old.get(name) === value);
}
