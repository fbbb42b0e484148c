package commit

import (
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/fulltext"
	"arbor/internal/git"
	"arbor/internal/search"
)

// filter is what a commit must be. Of author:, committer: and the like, one must hold of each.
type filter struct {
	words, not []string // phrases, as fulltext.Spaced gives them
	all        []func(*git.Commit) bool
	oneOf      map[string][]func(*git.Commit) bool
	nothing    bool // only punctuation is looked for
}

// newFilter reads the terms. Error: 422.
func newFilter(c *search.Conditions, q *search.Asked) (*filter, error) {
	f := &filter{oneOf: map[string][]func(*git.Commit) bool{}}
	yes, no := q.Words()
	f.words, f.not = phrases(yes), phrases(no)
	f.nothing = len(yes) > 0 && len(f.words) == 0
	emails, err := c.Emails(q.Terms, "author", "committer")
	if err != nil {
		return nil, err
	}
	for _, t := range q.Terms {
		if !f.add(t, emails[c.Login(t.Value)]) {
			return nil, t.Wrong()
		}
	}
	return f, nil
}

func phrases(list []string) (out []string) {
	for _, w := range list {
		if fulltext.Searchable(w) {
			out = append(out, fulltext.Spaced(w))
		}
	}
	return out
}

// add adds a qualifier; false for a value that it cannot have.
func (f *filter) add(t *search.Term, emails []string) bool {
	who := func(c *git.Commit) git.Signature { return c.Author }
	name, committer := strings.CutPrefix(t.Name, "committer")
	if committer {
		who = func(c *git.Commit) git.Signature { return c.Committer }
		name = "author" + name
	}
	switch name {
	case "author":
		f.put(t, func(c *git.Commit) bool {
			return slices.ContainsFunc(emails,
				func(e string) bool { return account.Fold(e) == account.Fold(who(c).Email) })
		})
	case "author-name":
		words := fulltext.Spaced(t.Value)
		f.put(t, func(c *git.Commit) bool { return strings.Contains(fulltext.Spaced(who(c).Name), words) })
		return fulltext.Searchable(t.Value)
	case "author-email":
		f.put(t, func(c *git.Commit) bool { return account.Fold(who(c).Email) == account.Fold(t.Value) })
	case "author-date":
		span, ok := search.ReadTimes(t.Value)
		f.require(t, func(c *git.Commit) bool { return span.Has(who(c).When.UnixMicro()) })
		return ok
	case "merge":
		merge := t.Value == "true"
		f.require(t, func(c *git.Commit) bool { return len(c.Parents) > 1 == merge })
		return merge || t.Value == "false"
	case "hash", "tree", "parent":
		return f.object(t)
	}
	return true
}

// object adds a qualifier whose value is a SHA, which may be abbreviated to four digits.
func (f *filter) object(t *search.Term) bool {
	begin := strings.ToLower(t.Value)
	is := func(sha git.SHA) bool { return strings.HasPrefix(string(sha), begin) }
	switch t.Name {
	case "hash":
		f.put(t, func(c *git.Commit) bool { return is(c.SHA) })
	case "tree":
		f.put(t, func(c *git.Commit) bool { return is(c.Tree) })
	default:
		f.require(t, func(c *git.Commit) bool { return slices.ContainsFunc(c.Parents, is) })
	}
	return len(begin) >= 4 && len(begin) <= 40 && strings.Trim(begin, "0123456789abcdef") == ""
}

// put adds a condition: one of its name must hold, or it must not hold.
func (f *filter) put(t *search.Term, holds func(*git.Commit) bool) {
	if t.Not {
		f.require(t, holds)
		return
	}
	f.oneOf[t.Name] = append(f.oneOf[t.Name], holds)
}

// require adds a condition that must hold, or must not.
func (f *filter) require(t *search.Term, holds func(*git.Commit) bool) {
	f.all = append(f.all, func(c *git.Commit) bool { return holds(c) != t.Not })
}

// holds reports that the filter lets a commit through.
func (f *filter) holds(c *git.Commit) bool {
	if f.nothing {
		return false
	}
	for _, holds := range f.all {
		if !holds(c) {
			return false
		}
	}
	for _, list := range f.oneOf {
		if !slices.ContainsFunc(list, func(holds func(*git.Commit) bool) bool { return holds(c) }) {
			return false
		}
	}
	if len(f.words)+len(f.not) == 0 {
		return true
	}
	text := fulltext.Spaced(c.Message)
	in := func(phrase string) bool { return strings.Contains(text, phrase) }
	return !slices.ContainsFunc(f.words, func(p string) bool {
		return !in(p)
	}) && !slices.ContainsFunc(f.not, in)
}
