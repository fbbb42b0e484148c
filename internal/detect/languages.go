package detect

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// Bounds on one look at a tree. What is beyond them does not count.
const (
	maxFiles = 100_000  // entries that are walked
	maxReads = 500      // files whose names do not tell, and of which the text is read
	maxText  = 64 << 10 // bytes of such a file; a larger one is taken for what its name suggests first
)

// language is how much code there is of one.
type language struct {
	Name  string
	Bytes int64
}

// doubtful is a file whose name does not tell its language.
type doubtful struct {
	path string
	sha  git.SHA
	size int64
	best string // what the name suggests first; empty: nothing
}

// count adds up the code of a tree by language, most first. Programming languages and markup
// count, and nothing that others wrote or programs made, as at GitHub.
func count(ctx context.Context, objects *git.Repository, tree git.SHA) ([]language, error) {
	sizes, unsure, walked := map[string]int64{}, []doubtful(nil), 0
	err := objects.WalkTree(ctx, tree, true, func(e *git.WalkEntry) error {
		if walked++; walked > maxFiles {
			return git.ErrStop
		}
		if e.Mode != git.ModeFile && e.Mode != git.ModeExecutable || e.Size <= 0 {
			return nil
		}
		name := string(e.Path)
		lang, sure := byName(name)
		switch {
		case !sure && (lang != "" || e.Mode == git.ModeExecutable):
			if len(unsure) < maxReads && !foreign(name) {
				unsure = append(unsure, doubtful{name, git.SHA(e.SHA), e.Size, lang})
			}
		case isCode(lang) && !foreign(name):
			sizes[group(lang)] += e.Size
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, d := range unsure {
		lang, err := d.read(ctx, objects)
		if err != nil {
			return nil, err
		}
		if isCode(lang) {
			sizes[group(lang)] += d.size
		}
	}
	list := make([]language, 0, len(sizes))
	for name, size := range sizes {
		list = append(list, language{name, size})
	}
	slices.SortFunc(list, func(a, b language) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name))
	})
	return list, nil
}

// byName tells the language by a file's name, and whether that is sure.
func byName(name string) (lang string, sure bool) {
	base := path.Base(name)
	if lang, sure = enry.GetLanguageByFilename(base); sure {
		return lang, true
	}
	return enry.GetLanguageByExtension(base)
}

// read tells the language by a file's text.
func (d *doubtful) read(ctx context.Context, objects *git.Repository) (string, error) {
	_, text, err := objects.Contents(ctx, d.sha, maxText)
	if errs.Is(err, errs.TooLarge) {
		return d.best, nil
	}
	if err != nil {
		return "", err
	}
	if d.best == "" {
		lang, _ := enry.GetLanguageByShebang(text)
		return lang, nil
	}
	if lang, _ := enry.GetLanguageByContent(d.path, text); lang != "" {
		return lang, nil
	}
	return d.best, nil
}

// foreign reports a file that others wrote, that a program made, or that documents.
func foreign(name string) bool {
	return enry.IsVendor(name) || enry.IsDocumentation(name) || enry.IsGenerated(name, nil)
}

func isCode(lang string) bool {
	if lang == "" {
		return false
	}
	kind := enry.GetLanguageType(lang)
	return kind == enry.Programming || kind == enry.Markup
}

// group is the language under which another one counts.
func group(lang string) string { return cmp.Or(enry.GetLanguageGroup(lang), lang) }
