// Package milestone implements the milestones of repositories.
//
//	milestone.go   the type and the operations
//	store.go       the SQL
//	api.go         the handlers
//	payload.go     their JSON
//
// Table: milestones; column next_milestone of repos.
//
// It does not depend on issues. Package issue adds issues to milestones and removes them. Package deletion
// removes a deleted milestone from issues, so it also has the DELETE endpoint. The numbers of issues are
// read from the counters of package issue.
//
// Invariants: Numbers increase and are not reused; titles are unique in their repository. Each change locks
// the repository's row first and increments both generations of package issuekit.
package milestone

import (
	"context"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// resource is the name of milestones in validation errors (decision 15).
const resource = "Milestone"

// Limits in code points (decision 19).
const (
	MaxTitle       = 256
	maxDescription = 65_536
)

// Milestone is a row of table milestones, with the number of its issues from the postings of package issue.
type Milestone struct {
	ID          int64
	RepoID      repo.ID
	Number      int64 // within the repository, starting at 1
	Title       string
	Description *string
	State       issuekit.State
	CreatorID   account.ID
	CreatedAt   db.Time
	UpdatedAt   db.Time
	DueOn       db.Time // zero: none
	ClosedAt    db.Time // zero if open

	OpenIssues   int64
	ClosedIssues int64
}

// Edit is an update of a milestone. Fields that are not set keep their values.
type Edit struct {
	Title       web.Opt[string]
	Description web.Opt[string] // null and an empty text clear it
	State       web.Opt[string] // open or closed
	DueOn       web.Opt[db.Time]

	Body web.Faults // what was wrong with the body that the values were read from
}

// check reports what is wrong with the values, which may be those of a new milestone. Error: 422.
func (e *Edit) check(fresh bool) error {
	f := e.Body
	f.Resource = resource
	switch {
	case fresh && e.Title.Value == "":
		f.CheckFilled("title", "")
	case e.Title.Given() && !f.IsWrong("title") && strings.TrimSpace(e.Title.Value) == "":
		f.Wrong("title", errs.MissingField, "title can't be blank")
	}
	f.CheckText("title", e.Title.Value, MaxTitle)
	f.CheckText("description", e.Description.Value, maxDescription)
	if e.State.Given() {
		f.CheckEnum("state", e.State.Value, "open", "closed")
	}
	return f.Err()
}

// View is a milestone with its creator.
type View struct {
	*Milestone
	Creator *account.Account
}

// views reads the creators of milestones.
func views(tx *db.Tx, list []*Milestone) ([]*View, error) {
	ids := make([]account.ID, len(list))
	for n, m := range list {
		ids[n] = m.CreatorID
	}
	creators, err := account.ByIDs(tx, ids)
	out := make([]*View, len(list))
	for n, m := range list {
		out[n] = &View{m, creators[m.CreatorID]}
	}
	return out, err
}

// List reads a page of the milestones of a repository, and their total number.
func (s *Service) List(
	ctx context.Context, a *repo.Access, o Order, at web.Page,
) (found []*View, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		found, total, err = read(tx, a, o, at)
		return err
	})
	return found, total, err
}

func read(tx *db.Tx, a *repo.Access, o Order, at web.Page) ([]*View, int64, error) {
	list, total, err := list(tx, a.ID, o, at)
	if err != nil {
		return nil, 0, err
	}
	found, err := views(tx, list)
	return found, total, err
}

// Get reads a milestone. Error: 404.
func (s *Service) Get(ctx context.Context, a *repo.Access, number int64) (*View, error) {
	var found []*View
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		m, err := ByNumber(tx, a.ID, number)
		if err == nil {
			found, err = views(tx, []*Milestone{m})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// apply writes the edit to m, and reports whether anything changed.
func (e *Edit) apply(m *Milestone, now db.Time) bool {
	before := *m
	m.Title = e.Title.Or(m.Title)
	described := e.Description.Set && e.Description.Value != textOf(m.Description)
	if described {
		m.Description = web.OrNil(e.Description.Value)
	}
	if e.DueOn.Set {
		m.DueOn = e.DueOn.Value
	}
	if e.State.Given() {
		m.State, _ = issuekit.ParseState(e.State.Value)
	}
	switch {
	case m.State == issuekit.Open:
		m.ClosedAt = 0
	case before.State != issuekit.Closed:
		m.ClosedAt = now
	}
	return described || m.Title != before.Title || m.DueOn != before.DueOn || m.State != before.State
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Service implements the operations on milestones.
type Service struct{ db *db.DB }

// New returns a Service.
func New(d *db.DB) *Service { return &Service{d} }

// Create creates a milestone of the caller with the next number. Errors: 404 if the repository was deleted,
// 422 if the title exists.
func (s *Service) Create(ctx context.Context, a *repo.Access, e Edit) (*Milestone, error) {
	if err := e.check(true); err != nil {
		return nil, err
	}
	var m *Milestone
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		number, err := takeNumber(tx, a.ID)
		if err != nil {
			return err
		}
		m = &Milestone{RepoID: a.ID, Number: number, State: issuekit.Open, CreatorID: a.Caller.ID,
			CreatedAt: tx.Now, UpdatedAt: tx.Now}
		e.apply(m, tx.Now)
		if err := insert(tx, m); err != nil {
			return err
		}
		return hook.Record(tx, a.ID, event(m, "created", a.Caller, nil))
	})
	return m, err
}

// Edit updates a milestone. Errors: 404, 422 if the new title exists.
func (s *Service) Edit(ctx context.Context, a *repo.Access, number int64, e Edit) (*Milestone, error) {
	if err := e.check(false); err != nil {
		return nil, err
	}
	var m *Milestone
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) (err error) {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		if m, err = ByNumber(tx, a.ID, number); err != nil {
			return err
		}
		before := *m
		if !e.apply(m, tx.Now) {
			return nil
		}
		if m.Title != before.Title {
			if there, err := titled(tx, a.ID, m.Title); err != nil {
				return err
			} else if there {
				return titleExists()
			}
		}
		m.UpdatedAt = tx.Now
		err = account.WrittenBy(tx, a.Caller.ID, m.CreatorID, func() error { return update(tx, m) })
		if err != nil {
			return err
		}
		return hook.Record(tx, a.ID, edited(&before, m, a.Caller)...)
	})
	return m, err
}

// event returns the webhook event of a milestone.
func event(m *Milestone, action string, by *account.Caller, changes map[string]any) hook.Event {
	return hook.Event{Name: "milestone", Action: action, Actor: account.IDOf(by),
		About: hook.About{Number: m.Number, Changes: changes}}
}

// edited returns the webhook events of an edit.
func edited(before, after *Milestone, by *account.Caller) (list []hook.Event) {
	changes := map[string]any{}
	if before.Title != after.Title {
		changes["title"] = hook.From(before.Title)
	}
	if old := textOf(before.Description); old != textOf(after.Description) {
		changes["description"] = hook.From(old)
	}
	if before.DueOn != after.DueOn {
		changes["due_on"] = hook.From(dueOf(before))
	}
	if len(changes) > 0 {
		list = append(list, event(after, "edited", by, changes))
	}
	if before.State != after.State {
		action := "closed"
		if after.State == issuekit.Open {
			action = "opened"
		}
		list = append(list, event(after, action, by, nil))
	}
	return list
}

// dueOf returns the due time as in payloads, or "".
func dueOf(m *Milestone) string {
	if m.DueOn.IsZero() {
		return ""
	}
	return m.DueOn.Time().UTC().Format(time.RFC3339)
}

// RecordDeleted records the webhook event of a milestone that is being deleted.
func RecordDeleted(tx *db.Tx, a *repo.Access, m *Milestone) error {
	info, err := hook.Listening(tx, a.ID, "milestone")
	if err != nil || info == nil {
		return err
	}
	creators, err := account.ByIDs(tx, []account.ID{m.CreatorID})
	if err != nil {
		return err
	}
	e := event(m, "deleted", a.Caller, nil)
	e.About.Parts, err = hook.Part("milestone",
		NewPayload(m, creators[m.CreatorID], issuekit.NewAddresses(info, a.Repo)))
	if err != nil {
		return err
	}
	return hook.Record(tx, a.ID, e)
}

// titleExists returns the 422 for a title that exists.
func titleExists() error {
	return errs.Validation(errs.Field{Resource: resource, Field: "title", Code: errs.AlreadyExists})
}
