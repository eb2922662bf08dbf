/**
 * Stands in for the package trash in a bundle for something else than Node; package.json says when.
 *
 * @throws {Error} Always.
 */
export default function noTrash(): never {
  throw new Error("this bundle was made without Node's condition `node`, and has no trash");
}
