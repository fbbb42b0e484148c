package code

import (
	"path"
	"slices"
	"strings"

	"arbor/internal/detect"
	"arbor/internal/errs"
	"arbor/internal/search"
)

// filter is what a file must be.
type filter struct {
	words, not     []string // in small letters
	inFile, inPath bool
	terms          []*search.Term // of names and sizes
	sizes          map[*search.Term]search.Span
}

// newFilter reads the terms. Errors: 422, including a search without a word.
func newFilter(q *search.Asked) (*filter, error) {
	f := &filter{sizes: map[*search.Term]search.Span{}}
	f.words, f.not = q.Words()
	for n := range f.words {
		f.words[n] = strings.ToLower(f.words[n])
	}
	for n := range f.not {
		f.not[n] = strings.ToLower(f.not[n])
	}
	if len(f.words) == 0 {
		return nil, errs.Validation(errs.Field{Resource: "Search", Field: "q", Code: errs.Missing,
			Message: "A search of code needs at least one word that is not negated."})
	}
	for _, t := range q.Terms {
		if !f.add(t) {
			return nil, t.Wrong()
		}
	}
	if !f.inFile && !f.inPath {
		f.inFile = true
	}
	return f, nil
}

// add adds a qualifier; false for a value that it cannot have.
func (f *filter) add(t *search.Term) (ok bool) {
	switch t.Name {
	case "in":
		for name := range strings.SplitSeq(strings.ToLower(t.Value), ",") {
			if name != "file" && name != "path" || t.Not {
				return false
			}
			f.inFile, f.inPath = f.inFile || name == "file", f.inPath || name == "path"
		}
	case "size":
		f.sizes[t], ok = search.ReadNumbers(t.Value)
		f.terms = append(f.terms, t)
		return ok
	case "path", "filename", "extension", "language":
		t.Value = strings.ToLower(t.Value)
		f.terms = append(f.terms, t)
	}
	return true
}

// named reports that a file's name and size are as they must be. What is said of one thing again
// is another possibility: extension:go extension:c.
func (f *filter) named(file string, size int64) bool {
	folded := strings.ToLower(file)
	found := map[string]bool{} // what is said, and whether the file is one of its possibilities
	for _, t := range f.terms {
		is := f.sizes[t].Has(size)
		switch t.Name {
		case "path":
			is = inDirectory(folded, t.Value)
		case "filename":
			is = strings.Contains(path.Base(folded), t.Value)
		case "extension":
			is = strings.HasSuffix(path.Base(folded), "."+strings.TrimPrefix(t.Value, "."))
		case "language":
			is = strings.ToLower(languageOf(file)) == t.Value
		}
		if t.Not && is {
			return false
		}
		if !t.Not {
			found[t.Name] = found[t.Name] || is
		}
	}
	for _, is := range found {
		if !is {
			return false
		}
	}
	return true
}

// inDirectory reports that a file lies in a directory, or below one. "/" is the root alone.
func inDirectory(file, dir string) bool {
	dir = strings.Trim(dir, "/")
	if dir == "" {
		return !strings.Contains(file, "/")
	}
	return strings.Contains("/"+path.Dir(file)+"/", "/"+dir+"/")
}

// languageOf returns the language that a name denotes.
func languageOf(file string) string { return detect.ByName(file) }

// holds reports that the words stand in the file's path or in its text, each in one of both, and that
// those do not which must not. read is called if that depends on the text.
func (f *filter) holds(file string, read func() (string, error)) (bool, error) {
	folded, contents := "", ""
	if f.inPath {
		folded = strings.ToLower(file)
	}
	in := func(w string) bool { return strings.Contains(folded, w) || strings.Contains(contents, w) }
	if f.inFile {
		text, err := read()
		if err != nil {
			return false, err
		}
		contents = strings.ToLower(text)
	}
	return !slices.ContainsFunc(f.words, func(w string) bool {
		return !in(w)
	}) && !slices.ContainsFunc(f.not, in), nil
}
