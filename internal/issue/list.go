package issue

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// choice holds the parameters that all lists of issues share.
type choice struct {
	where  posting.And
	labels []string // folded; issues must have all of them
	order  posting.Order
}

// readChoice reads the parameters that all lists of issues share. Errors: 422 for an invalid one (decisions
// 17, 25).
func readChoice(r *http.Request) (choice, error) {
	var c choice
	state, err := web.QueryEnum(r, Resource, "state", "open", "closed", "all")
	if err != nil {
		return c, err
	}
	if s, ok := issuekit.ParseState(state); ok {
		c.where = append(c.where, posting.InState(s))
	}
	if c.order, err = readOrder(r); err != nil {
		return c, err
	}
	since, err := web.QueryTime(r, Resource, "since")
	if err != nil {
		return c, err
	}
	if !since.IsZero() {
		c.where = append(c.where, posting.Since(db.FromTime(since)))
	}
	seen := map[string]bool{}
	labels := web.QueryOf(r).Get("labels")
	if !utf8.ValidString(labels) || strings.IndexByte(labels, 0) >= 0 { // not valid text (decision 19)
		return c, wrong("labels", errs.InvalidField, nil)
	}
	for name := range strings.SplitSeq(labels, ",") {
		folded := label.Fold(strings.TrimSpace(name))
		if folded != "" && !seen[folded] {
			seen[folded] = true
			c.labels = append(c.labels, folded)
		}
	}
	if len(c.labels) > MaxLabels {
		return c, wrong("labels", errs.InvalidField, nil)
	}
	return c, nil
}

func readOrder(r *http.Request) (posting.Order, error) {
	sort, err := web.QueryEnum(r, Resource, "sort", "created", "updated", "comments")
	if err != nil {
		return posting.Order{}, err
	}
	direction, err := web.QueryEnum(r, Resource, "direction", "desc", "asc")
	by := map[string]posting.Sort{"updated": posting.Updated, "comments": posting.Comments}[sort]
	return posting.Order{Sort: by, Asc: direction == "asc"}, err
}

// peopleParameters are the parameters of a repository's list that are logins, with the postings they
// select.
var peopleParameters = [...]struct {
	name string
	kind posting.Kind
}{{"creator", posting.ByAuthor}, {"assignee", posting.ByAssignee}, {"mentioned", posting.ByMention}}

// chooseIn returns the conditions of a list of one repository. some is false if a parameter names a label
// or a login that does not exist: the list is empty (decision 25). Error: 422 if the milestone is not a
// number or does not exist.
func chooseIn(tx *db.Tx, repoID repo.ID, c choice, r *http.Request) (where posting.And, some bool, err error) {
	where = slices.Clone(c.where)
	if m := web.QueryOf(r).Get("milestone"); m != "" {
		by, err := milestoneNamed(tx, repoID, m)
		if err != nil {
			return nil, false, err
		}
		where = append(where, posting.HasOne(by))
	}
	people, some, err := choosePeople(tx, r)
	if err != nil || !some {
		return nil, false, err
	}
	labels, err := label.Named(tx, repoID, c.labels)
	if err != nil || len(labels) < len(c.labels) {
		return nil, false, err
	}
	for _, name := range c.labels {
		where = append(where, posting.HasOne(posting.ByLabel.Of(labels[name].ID)))
	}
	return append(where, people...), true, nil
}

// choosePeople returns the conditions of the parameters that are logins.
func choosePeople(tx *db.Tx, r *http.Request) (where posting.And, some bool, err error) {
	logins := map[posting.Kind]string{}
	var folded []string
	for _, p := range peopleParameters {
		v := web.QueryOf(r).Get(p.name)
		switch {
		case v == "":
		case p.kind == posting.ByAssignee && v == "none":
			where = append(where, posting.HasOne(posting.ByAssignee.Of(posting.None)))
		case p.kind == posting.ByAssignee && v == "*":
			where = append(where, posting.HasOne(posting.ByAssignee.Of(posting.Any)))
		default:
			logins[p.kind] = account.Fold(v)
			folded = append(folded, account.Fold(v))
		}
	}
	accounts, err := account.ByLogins(tx, folded)
	if err != nil {
		return nil, false, err
	}
	for _, p := range peopleParameters {
		if login := logins[p.kind]; login != "" {
			a := accounts[login]
			if a == nil {
				return nil, false, nil
			}
			where = append(where, posting.HasOne(p.kind.OfUser(a.ID)))
		}
	}
	return where, true, nil
}

// milestoneNamed reads the parameter milestone: a number, * for any, or none.
func milestoneNamed(tx *db.Tx, repoID repo.ID, v string) (posting.Property, error) {
	switch v {
	case "*":
		return posting.ByMilestone.Of(posting.Any), nil
	case "none":
		return posting.ByMilestone.Of(posting.None), nil
	}
	if number, ok := web.ParseNumber(v); ok {
		m, err := milestone.ByNumber(tx, repoID, number)
		if err == nil {
			return posting.ByMilestone.Of(m.ID), nil
		}
		if !errs.Is(err, errs.NotFound) {
			return posting.Property{}, err
		}
	}
	return posting.Property{}, wrong("milestone", errs.InvalidField, v)
}

// GET /repos/{owner}/{repo}/issues
//
// List lists the repository's issues and pull requests. Errors: 410, 422.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := Enabled(a.Repo, nil); err != nil {
		return err
	}
	c, err := readChoice(r)
	if err != nil {
		return err
	}
	return api.s.answers.ServeRepeated(w, r, a, api.listing(w, r, a, c))
}

// listing returns a function that renders a list of the repository's issues.
func (api *API) listing(w http.ResponseWriter, r *http.Request, a *repo.Access, c choice) web.Render {
	return func(out *web.Output) error {
		at := web.ReadPage(r)
		p, total := newPage(out.Context(), a), int64(0)
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			where, some, err := chooseIn(tx, a.ID, c, r)
			if err != nil || !some {
				return err
			}
			q := posting.Query{Repos: []posting.Repo{{ID: a.ID}}, Where: where, Order: c.order}
			list, found, err := api.s.Find(tx, q, at.Offset(), at.Size)
			if err != nil {
				return err
			}
			p.issues, total = list, found.Total
			return p.load(tx)
		})
		if err != nil {
			return err
		}
		web.Link(w, r, at, total)
		return api.renderList(out, p, 4<<10)
	}
}
