package git

import (
	"bufio"
	"bytes"
	"os"

	"arbor/internal/durable"
)

// WritePackedRefs writes what git itself needs of refs on disk (a fetch sends
// tags along with what they name): one packed-refs file, and HEAD. Nothing
// trusts them; SQL does not care whether they are there.
func (r *Repository) WritePackedRefs(refs Refs) error {
	err := durable.Replace(r.path("packed-refs"), func(f *os.File) error {
		out := bufio.NewWriterSize(f, 64<<10)
		_, _ = out.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
		for _, ref := range refs.List {
			_, _ = out.WriteString(string(ref.SHA) + " " + ref.Name + "\n")
			if ref.Peeled != "" {
				_, _ = out.WriteString("^" + string(ref.Peeled) + "\n")
			}
		}
		return out.Flush()
	})
	if err != nil || CheckOldRefName(refs.Head) != nil {
		return err
	}
	head := []byte("ref: " + refs.Head + "\n")
	if old, err := os.ReadFile(r.path("HEAD")); err == nil && bytes.Equal(old, head) {
		return nil
	}
	return durable.Replace(r.path("HEAD"), func(f *os.File) error {
		_, err := f.Write(head)
		return err
	})
}

// FreshRefs writes packed-refs unless this process wrote them already at this
// generation or a later one.
func (r *Repository) FreshRefs(refs Refs) error {
	s := r.git.state(r.dir)
	s.refsMu.Lock()
	defer s.refsMu.Unlock()
	if s.refsWritten && s.refsGeneration >= refs.Generation {
		return nil
	}
	if err := r.WritePackedRefs(refs); err != nil {
		return err
	}
	s.refsWritten, s.refsGeneration = true, refs.Generation
	return nil
}
