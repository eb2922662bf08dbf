/** True if each of two types can be given where the other is wanted, false otherwise. */
export type MutuallyAssignable<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
