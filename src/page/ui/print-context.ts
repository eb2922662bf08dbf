import { createContext } from "preact";

/** Whether this is for paper, where nobody can ask for more. */
export const PrintContext = createContext(false);
