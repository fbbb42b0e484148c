// Package reaction implements reactions to issues, comments and releases, such as a thumbs-up or a
// heart.
//
//   - reaction.go: the contents, the subjects, and the rollup in payloads
//   - store.go: the SQL, of the table reactions
//   - api.go: the handlers, for all kinds of subjects
//
// It does not depend on its subjects: package issue, those above it and package release provide a [Find] that
// returns the issue, comment or release as a [Subject].
//
// Invariants: A user has each content at most once on a subject. A reaction does not change its subject's
// updated_at (decision 57). No foreign key refers to a subject: code that deletes one calls [Drop] in the
// same transaction.
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

// Content is one of the eight kinds of reactions.
type Content uint8

// Contents as stored, in the order of GitHub's rollup.
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

// names are the names in requests and payloads; that of c is at c-1.
var names = [...]string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"}

// ParseContent parses the result of String. ok is false for other strings.
func ParseContent(s string) (c Content, ok bool) {
	i := slices.Index(names[:], s)
	return Content(i + 1), i >= 0
}

// String returns the name used in payloads, such as "+1" or "heart", or "" for 0.
func (c Content) String() string {
	if c == 0 || int(c) > len(names) {
		return ""
	}
	return names[c-1]
}

// Kind is the table of a subject.
type Kind uint8

// Kinds of subjects as stored.
const (
	Issue         Kind = 1 // also pull requests, which are issues
	IssueComment  Kind = 2
	ReviewComment Kind = 3
	CommitComment Kind = 4
	Release       Kind = 5
)

// Contents returns the names of the contents that subjects of the kind may have, in the order of the rollup. As at
// GitHub, releases have no -1 and no confused.
func (k Kind) Contents() []string {
	if k == Release {
		return forReleases[:]
	}
	return names[:]
}

var forReleases = [...]string{"+1", "laugh", "hooray", "heart", "rocket", "eyes"}

// Subject is the text that a reaction refers to. Its owner has found it in the repository of the request's
// Access and checked that it is visible to the caller.
type Subject struct {
	Kind   Kind
	ID     int64 // unique among all subjects of the kind
	Locked bool  // the conversation is locked: reactions require push access (decision 34)

	// Changed is called in the transaction of a change if not nil; an error rolls it back. The subject's
	// owner invalidates its cached responses and checks with the repository's row locked that the subject
	// still exists, so that no reaction to a deleted subject remains.
	Changed func(tx *db.Tx) error
}

// mayReact returns 403 if the conversation is locked and the caller has no push access (decision 34).
func mayReact(a *repo.Access, s Subject) error {
	if s.Locked && a.Role < account.Push {
		return errs.New(errs.Forbidden, "The conversation is locked: must have push access to Repository.")
	}
	return nil
}

// Add adds the caller's reaction to a subject. added is false if it exists. Errors: 403 for a locked conversation,
// 404, 422 for a content that the subject cannot have.
func Add(
	ctx context.Context, d *db.DB, a *repo.Access, s Subject, content string,
) (made Payload, added bool, err error) {
	err = change(ctx, d, a, s, content, func(tx *db.Tx, c Content) error {
		r, isNew, err := insert(tx, a.ID, s, a.Caller.ID, c)
		if err != nil {
			return err
		}
		if added = isNew; added {
			if err := s.changed(tx); err != nil {
				return err
			}
		}
		made, err = ownPayload(ctx, tx, a, r)
		return err
	})
	return made, added, err
}

// Remove removes the caller's reaction from a subject and returns it. Errors: those of Add; 404 if there is none.
func Remove(ctx context.Context, d *db.DB, a *repo.Access, s Subject, content string) (was Payload, err error) {
	err = change(ctx, d, a, s, content, func(tx *db.Tx, c Content) error {
		r, err := ownRow(tx, a.ID, s, a.Caller.ID, c)
		if err != nil {
			return err
		}
		if was, err = ownPayload(ctx, tx, a, r); err != nil {
			return err
		}
		return drop(tx, s, r)
	})
	return was, err
}

// Toggle adds the caller's reaction to a subject, or removes it if it exists. Errors: those of Add.
func Toggle(ctx context.Context, d *db.DB, a *repo.Access, s Subject, content string) error {
	return change(ctx, d, a, s, content, func(tx *db.Tx, c Content) error {
		made, added, err := insert(tx, a.ID, s, a.Caller.ID, c)
		if err != nil {
			return err
		}
		if added {
			return s.changed(tx)
		}
		return drop(tx, s, made)
	})
}

// change checks that the caller may react with a content, and calls fn in a transaction.
func change(
	ctx context.Context, d *db.DB, a *repo.Access, s Subject, content string, fn func(*db.Tx, Content) error,
) error {
	if err := mayReact(a, s); err != nil {
		return err
	}
	f := web.Faults{Resource: resource}
	f.CheckEnum("content", content, s.Kind.Contents()...)
	if err := f.Err(); err != nil {
		return err
	}
	c, _ := ParseContent(content)
	return d.WriteAs(ctx, a, func(tx *db.Tx) error { return fn(tx, c) })
}

func drop(tx *db.Tx, s Subject, r row) error {
	if err := remove(tx, r.id); err != nil {
		return err
	}
	return s.changed(tx)
}

func ownPayload(ctx context.Context, tx *db.Tx, a *repo.Access, r row) (Payload, error) {
	user, err := account.ByID(tx, a.Caller.ID)
	if err != nil {
		return Payload{}, err
	}
	return newPayload(r, user, web.From(ctx)), nil
}

// Rollup holds the number of a subject's reactions by content; that of c is at c-1.
type Rollup [8]int64

// Total returns the number of all reactions.
func (u Rollup) Total() (n int64) {
	for _, count := range u {
		n += count
	}
	return n
}

// keys are the JSON keys of the counts.
var keys = [len(Rollup{})]string{`,"+1":`, `,"-1":`, `,"laugh":`, `,"hooray":`, `,"confused":`, `,"heart":`,
	`,"rocket":`, `,"eyes":`}

// AppendJSON appends GitHub's reactions object. url is the address of the subject's reactions. It does not
// use encoding/json, which takes six times as long for the issues of a list (BenchmarkAppendJSON).
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

// Object is a rollup with its address, for payloads rendered by encoding/json.
type Object struct {
	URL    string
	Rollup Rollup
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) { return o.Rollup.AppendJSON(nil, o.URL), nil }
