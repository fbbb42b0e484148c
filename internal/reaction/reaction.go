// Package reaction holds reactions to anything that people write: a thumb or a
// heart under an issue or a comment.
//
//   - reaction.go: the contents, the subjects, and the rollup in payloads
//   - store.go: the SQL, of the table reactions
//   - api.go: the handlers, for all kinds of subjects
//
// It knows no subject: package issue and those above find the issue or comment
// in its repository, by a [Find] that gives it as a [Subject].
//
// Invariants: a user has each content at most once on a subject. A reaction
// leaves its subject's updated_at alone (decision 57). No foreign key leads to
// a subject: code that deletes one calls [Drop] in the same transaction.
package reaction

import (
	"context"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Content is one of the eight things that a reaction can say.
type Content uint8

// The contents, as they are stored, in the order of GitHub's rollup.
const (
	PlusOne Content = iota + 1
	MinusOne
	Laugh
	Hooray
	Confused
	Heart
	Rocket
	Eyes
)

// names are the contents' names in requests and payloads; that of c is at c-1.
var names = [...]string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"}

// ParseContent reads what String gives; ok is false for anything else.
func ParseContent(s string) (c Content, ok bool) {
	i := slices.Index(names[:], s)
	return Content(i + 1), i >= 0
}

// String gives the name in payloads, such as "+1" or "heart"; "" for no content.
func (c Content) String() string {
	if c == 0 || int(c) > len(names) {
		return ""
	}
	return names[c-1]
}

// Kind says in which table a subject is.
type Kind uint8

// The kinds of subject, as they are stored.
const (
	Issue         Kind = 1 // pull requests too: they are issues
	IssueComment  Kind = 2
	ReviewComment Kind = 3
	CommitComment Kind = 4
)

// Subject is what a reaction is about. Its owner has found it in the repository
// of the request's Access, and checked that the caller may see it.
type Subject struct {
	Kind   Kind
	ID     int64 // unique for the kind, in all repositories
	Locked bool  // its conversation is: only push access reacts (decision 34)

	// Changed runs after a change, in its transaction; an error undoes it. Its
	// owner makes what it cached count no longer, and looks again whether the
	// subject is there, with the repository's row locked: deleted meanwhile, it
	// would leave a reaction to nothing. Nil does nothing.
	Changed func(tx *db.Tx) error
}

// mayReact returns the 403 for callers who may not react in a locked conversation (decision 34).
func mayReact(a *repo.Access, s Subject) error {
	if s.Locked && a.Role < account.Push {
		return errs.New(errs.Forbidden, "The conversation is locked: must have push access to Repository.")
	}
	return nil
}

// add adds the caller's reaction, if it is not there.
func add(tx *db.Tx, a *repo.Access, s Subject, c Content) (made row, added bool, err error) {
	made, added, err = insert(tx, a.ID, s, a.Caller.ID, c)
	if err == nil && added {
		err = s.changed(tx)
	}
	return made, added, err
}

// Toggle adds the caller's reaction to a subject, or takes it back if it is there. Errors: 403 for a locked
// conversation, 404, 422 for a content that there is not.
func Toggle(ctx context.Context, d *db.DB, a *repo.Access, s Subject, content string) error {
	if err := mayReact(a, s); err != nil {
		return err
	}
	f := web.Faults{Resource: resource}
	f.CheckEnum("content", content, names[:]...)
	if err := f.Err(); err != nil {
		return err
	}
	c, _ := ParseContent(content)
	return d.Write(ctx, func(tx *db.Tx) error {
		made, added, err := add(tx, a, s, c)
		if err != nil || added {
			return err
		}
		if err := remove(tx, made.id); err != nil {
			return err
		}
		return s.changed(tx)
	})
}

// Rollup counts a subject's reactions: those of content c are at c-1. The zero
// value is that of a subject without any.
type Rollup [8]int64

// Total is the number of all reactions.
func (u Rollup) Total() (n int64) {
	for _, count := range u {
		n += count
	}
	return n
}

// keys stand before the counts.
var keys = [len(Rollup{})]string{`,"+1":`, `,"-1":`, `,"laugh":`, `,"hooray":`, `,"confused":`, `,"heart":`,
	`,"rocket":`, `,"eyes":`}

// AppendJSON appends GitHub's reactions object, as it stands in a subject's payload. url
// is where the subject's reactions are listed and made. It does so by hand: it stands in
// each issue of a list, and encoding/json takes six times as long (BenchmarkAppendJSON).
func (u Rollup) AppendJSON(b []byte, url string) []byte {
	b = append(b, `{"url":`...)
	b = web.AppendString(b, url)
	b = append(b, `,"total_count":`...)
	b = strconv.AppendInt(b, u.Total(), 10)
	for i, count := range u {
		b = append(b, keys[i]...)
		b = strconv.AppendInt(b, count, 10)
	}
	return append(b, '}')
}

// Object is a rollup with its address, for payloads that encoding/json renders.
type Object struct {
	URL    string
	Rollup Rollup
}

// MarshalJSON gives what Rollup.AppendJSON appends.
func (o Object) MarshalJSON() ([]byte, error) { return o.Rollup.AppendJSON(nil, o.URL), nil }
