package migration

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// Spool writes records of another server into a folder, in the format of an export, before they are imported.
type Spool struct {
	to    Sink
	kinds map[Kind]*recordWriter
}

// NewSpool returns a Spool that writes into a folder, which must be new or empty.
func NewSpool(dir string) (*Spool, error) {
	to, err := NewFolder(dir)
	return &Spool{to: to, kinds: map[Kind]*recordWriter{}}, err
}

// Add writes a record.
func (s *Spool) Add(k Kind, r Record) error {
	w := s.kinds[k]
	if w == nil {
		w = &recordWriter{to: s.to, name: recordsFile(k)}
		s.kinds[k] = w
	}
	return w.add(r)
}

// Close ends the files of records, and writes repository.json with how many there are.
func (s *Spool) Close(about *Repository) error {
	about.Records = map[Kind]int64{}
	for k, w := range s.kinds {
		about.Records[k] = w.n
	}
	if err := s.Discard(); err != nil {
		return err
	}
	return errors.Join(writeRepository(s.to, about), s.to.Close())
}

// Discard closes the files of records. The folder gets no repository.json, so it is not accepted as a complete
// export.
func (s *Spool) Discard() (err error) {
	for _, k := range slices.Sorted(maps.Keys(s.kinds)) {
		err = errors.Join(err, s.kinds[k].close())
	}
	clear(s.kinds)
	return err
}

// writeRepository writes repository.json.
func writeRepository(to Sink, about *Repository) error {
	out, err := to.Create(repositoryFile)
	if err != nil {
		return err
	}
	text := json.NewEncoder(out)
	text.SetIndent("", "  ")
	return errors.Join(text.Encode(about), out.Close())
}
