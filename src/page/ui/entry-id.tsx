/**
 * The id of an entry, as the command line takes it. One click selects the whole of it to be copied, also where a long one
 * is cut: no permission is needed for that, as it is to write to the clipboard.
 */
export function EntryId({ id }: { id: string }) {
  return (
    <code class="entry-id no-print" title={`Entry ${id}: click to select the id`}>
      {id}
    </code>
  );
}
