package code

import (
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"

	"arbor/internal/page"
)

// Bounds of a table; the rest is in the source.
const (
	maxRows  = 1000
	maxCells = 20_000
	maxCell  = 1000 // bytes
)

// dataTable is a file of comma or tab separated values.
type dataTable struct {
	Head []string
	Rows [][]string
	Cut  bool
}

// showData shows a table or a notebook, if the text is one; with source set it only notes that it could.
func (p *Pages) showData(r *http.Request, v *blobView, text string, source bool) (shown bool, err error) {
	switch end := strings.ToLower(path.Ext(v.Name())); end {
	case ".csv", ".tsv":
		table := readTable(text, end == ".tsv")
		if v.Source = table != nil && source; table == nil || source {
			return false, nil
		}
		v.Kind, v.Table = "table", table
		return true, nil
	case ".ipynb":
		book := readNotebook(text)
		if v.Source = book != nil && source; book == nil || source {
			return false, nil
		}
		v.Kind = "notebook"
		v.Cells, err = p.cells(r, v, book)
		return true, err
	}
	return false, nil
}

// readTable reads a table whose first line is its head; nil: the text cannot be read as one.
func readTable(text string, tabs bool) *dataTable {
	in := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	in.FieldsPerRecord, in.LazyQuotes = -1, true
	if tabs {
		in.Comma = '\t'
	}
	t, cells := &dataTable{}, 0
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil
		}
		if cells += len(row); len(t.Rows) == maxRows || cells > maxCells {
			t.Cut = true
			break
		}
		for n := range row {
			if c := page.Clip(row[n], maxCell); c.Cut {
				row[n] = c.Text + "…"
			}
		}
		if t.Head == nil {
			t.Head = row
		} else {
			t.Rows = append(t.Rows, row)
		}
	}
	if t.Head == nil {
		return nil
	}
	return t
}
