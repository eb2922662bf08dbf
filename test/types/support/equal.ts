/** True if each of two types is assignable to the other, false otherwise. */
export type MutuallyAssignable<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
