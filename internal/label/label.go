// Package label implements the labels of repositories.
//
//	label.go     the type and the operations
//	default.go   the labels of new repositories
//	store.go     the SQL
//	api.go       the handlers and their JSON
//
// Table: labels.
//
// It does not depend on issues. Package issue adds labels to issues and removes them. Package deletion
// removes a deleted label from issues, so it also has the DELETE endpoint.
//
// Invariants: A name is unique in its repository, compared case-insensitively. Each change locks the
// repository's row first and increments both generations of package issuekit. Ids are looked up within their
// repository and are not reused.
package label

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// resource is the name of labels in validation errors (decision 15).
const resource = "Label"

// MaxName is the maximum length of a name in code points (decision 19).
const MaxName = 50

// newColor is the color of labels created by issues (decision 32).
const newColor = "ededed"

// Label is a row of table labels.
type Label struct {
	ID          int64
	RepoID      repo.ID
	Name        string // unique in the repository after Fold
	Color       string // six lower-case hexadecimal digits
	Description *string
	Default     bool    // one of the default labels
	CreatedAt   db.Time // 0: not known, since the label is older than the column, or imported
	UpdatedAt   db.Time // 0: not known
}

// Fold returns the canonical form of a name, which ignores case (decision 25).
func Fold(name string) string { return strings.ToLower(name) }

// check validates the label names of an issue (decision 19).
func check(names []string) error {
	for _, n := range names {
		if strings.TrimSpace(n) == "" {
			return errs.Validation(errs.Field{Resource: resource, Field: "name", Code: errs.MissingField})
		}
		if strings.IndexByte(n, 0) >= 0 {
			return errs.Validation(errs.Field{Resource: resource, Field: "name", Code: errs.InvalidField,
				Message: "name must not contain NUL"})
		}
		if utf8.RuneCountInString(n) > MaxName {
			return errs.Validation(errs.Field{Resource: resource, Field: "name", Code: errs.Custom,
				Message: "name is too long (maximum is 50 characters)"})
		}
	}
	return nil
}

// Ensure returns the labels with the given names in order, without duplicates, and creates missing ones for
// an account (decision 32). The repository's row must be locked. Errors: 422.
func Ensure(tx *db.Tx, repoID repo.ID, names []string, by account.ID) ([]*Label, error) {
	if err := check(names); err != nil {
		return nil, err
	}
	byName, err := Named(tx, repoID, names)
	if err != nil {
		return nil, err
	}
	list := make([]*Label, 0, len(names))
	var told []hook.Event
	seen := map[string]bool{}
	for _, n := range names {
		folded := Fold(n)
		if seen[folded] {
			continue
		}
		seen[folded] = true
		l := byName[folded]
		if l == nil {
			l = &Label{RepoID: repoID, Name: n, Color: newColor}
			if err := insert(tx, l); err != nil {
				return nil, err
			}
			told = append(told, event(l, "created", by, nil))
		}
		list = append(list, l)
	}
	return list, hook.Record(tx, repoID, told...)
}

// InOrder returns labels in the order of ids, without deleted ones.
func InOrder(tx *db.Tx, repoID repo.ID, ids []int64) ([]*Label, error) {
	byID, err := ByIDs(tx, repoID, ids)
	if err != nil {
		return nil, err
	}
	list := make([]*Label, 0, len(ids))
	for _, id := range ids {
		if l := byID[id]; l != nil {
			list = append(list, l)
		}
	}
	return list, nil
}

// Service implements the operations on labels.
type Service struct{ db *db.DB }

// New returns a Service.
func New(d *db.DB) *Service { return &Service{d} }

// List reads a page of the labels of a repository by name, and their total number.
func (s *Service) List(
	ctx context.Context, a *repo.Access, at web.Page,
) (found []*Label, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		found, total, err = list(tx, a.ID, at)
		return err
	})
	return found, total, err
}

// Get reads a label. Its name is matched case-insensitively. Error: 404.
func (s *Service) Get(ctx context.Context, a *repo.Access, name string) (l *Label, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Label, error) { return ByName(tx, a.ID, name) })
}

// Create creates a label. The default color is that of labels created by issues. Errors: 404 if the
// repository was deleted, 422 if the name exists.
func (s *Service) Create(ctx context.Context, a *repo.Access, e Edit) (*Label, error) {
	if err := e.check(true); err != nil {
		return nil, err
	}
	var l *Label
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		l = &Label{RepoID: a.ID, Name: e.Name.Value, Color: e.Color.Or(newColor),
			Description: web.OrNil(e.Description.Value)}
		if err := issuekit.Lock(tx, l.RepoID); err != nil {
			return err
		}
		if err := insert(tx, l); err != nil {
			return err
		}
		return hook.Record(tx, l.RepoID, event(l, "created", account.IDOf(a.Caller), nil))
	})
	return l, err
}

// event returns the webhook event of a label.
func event(l *Label, action string, by account.ID, changes map[string]any) hook.Event {
	return hook.Event{Name: "label", Action: action, Actor: by,
		About: hook.About{Label: l.Name, Changes: changes}}
}

// RecordDeleted records the webhook event of a label that is being deleted.
func RecordDeleted(tx *db.Tx, a *repo.Access, l *Label) error {
	info, err := hook.Listening(tx, a.ID, "label")
	if err != nil || info == nil {
		return err
	}
	e := event(l, "deleted", account.IDOf(a.Caller), nil)
	if e.About.Parts, err = hook.Part("label", NewPayload(l, issuekit.NewAddresses(info, a.Repo))); err != nil {
		return err
	}
	return hook.Record(tx, a.ID, e)
}

// Edit is an update of a label. Fields that are not set keep their values.
type Edit struct {
	Name        web.Opt[string]
	Color       web.Opt[string] // six hexadecimal digits, optionally after a number sign
	Description web.Opt[string] // null and an empty text clear it

	Body   web.Faults // what was wrong with the body that the values were read from
	NameIn string     // its field with the name; empty: name
}

// maxDescription is the maximum length in code points, as at GitHub.
const maxDescription = 100

// check normalizes the color and reports what is wrong with the values, which may be those of a new label. Error:
// 422.
func (e *Edit) check(fresh bool) error {
	f, name := e.Body, cmp.Or(e.NameIn, "name")
	f.Resource = resource
	switch {
	case fresh && e.Name.Value == "":
		f.CheckFilled(name, "")
	case e.Name.Given() && !f.IsWrong(name) && strings.TrimSpace(e.Name.Value) == "":
		f.Wrong(name, errs.MissingField, "name can't be blank")
	}
	f.CheckText(name, e.Name.Value, MaxName)
	if e.Color.Given() && !f.IsWrong("color") {
		e.Color.Value = strings.ToLower(strings.TrimPrefix(e.Color.Value, "#"))
		if len(e.Color.Value) != 6 || strings.Trim(e.Color.Value, "0123456789abcdef") != "" {
			f.Wrong("color", errs.InvalidField, "color must be six hexadecimal digits")
		}
	}
	f.CheckText("description", e.Description.Value, maxDescription)
	return f.Err()
}

// Edit updates the label with this name. Errors: 404, 422 if the new name exists.
func (s *Service) Edit(ctx context.Context, a *repo.Access, name string, e Edit) (*Label, error) {
	if err := e.check(false); err != nil {
		return nil, err
	}
	var l *Label
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) (err error) {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		if l, err = ByName(tx, a.ID, name); err != nil {
			return err
		}
		before := *l
		if e.Name.Given() {
			other, err := ByName(tx, a.ID, e.Name.Value)
			if err == nil && other.ID != l.ID {
				return nameExists()
			}
			if err != nil && !errs.Is(err, errs.NotFound) {
				return err
			}
			l.Name = e.Name.Value
		}
		l.Color = e.Color.Or(l.Color)
		if e.Description.Set {
			l.Description = web.OrNil(e.Description.Value)
		}
		if err := update(tx, l); err != nil {
			return err
		}
		changes := changed(&before, l)
		if len(changes) == 0 {
			return nil
		}
		return hook.Record(tx, a.ID, event(l, "edited", account.IDOf(a.Caller), changes))
	})
	return l, err
}

// changed returns the values that an edit replaced.
func changed(before, after *Label) map[string]any {
	changes := map[string]any{}
	if before.Name != after.Name {
		changes["name"] = hook.From(before.Name)
	}
	if before.Color != after.Color {
		changes["color"] = hook.From(before.Color)
	}
	if old, now := textOf(before.Description), textOf(after.Description); old != now {
		changes["description"] = hook.From(old)
	}
	return changes
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// nameExists returns the 422 for a name that exists.
func nameExists() error {
	return errs.Validation(errs.Field{Resource: resource, Field: "name", Code: errs.AlreadyExists})
}
