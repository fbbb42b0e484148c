package issue

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// choice is what the parameters of a list ask for.
type choice struct {
	states []State
	labels []string
	order  Order
	since  db.Time
}

// readChoice reads the parameters that all lists of issues have. Errors: 422
// that names one (decisions 17, 25).
func readChoice(r *http.Request) (choice, error) {
	var c choice
	state, err := web.QueryEnum(r, Resource, "state", "open", "closed", "all")
	if err != nil {
		return c, err
	}
	c.states = []State{Open, Closed}
	if s, ok := ParseState(state); ok {
		c.states = []State{s}
	}
	if c.order, err = readOrder(r); err != nil {
		return c, err
	}
	since, err := web.QueryTime(r, Resource, "since")
	if err != nil {
		return c, err
	}
	c.since = db.FromTime(since)
	seen := map[string]bool{}
	labels := r.URL.Query().Get("labels")
	if !utf8.ValidString(labels) || strings.IndexByte(labels, 0) >= 0 { // no text (decision 19)
		return c, wrong("labels", errs.InvalidField, nil)
	}
	for name := range strings.SplitSeq(labels, ",") {
		folded := FoldLabel(strings.TrimSpace(name))
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

func readOrder(r *http.Request) (Order, error) {
	sort, err := web.QueryEnum(r, Resource, "sort", "created", "updated", "comments")
	if err != nil {
		return Order{}, err
	}
	direction, err := web.QueryEnum(r, Resource, "direction", "desc", "asc")
	return Order{Sort: map[string]Sort{"updated": Updated, "comments": Comments}[sort], Asc: direction == "asc"}, err
}

// people are the parameters of a repository's list that name logins, and what
// they choose by.
var peopleParameters = [...]struct {
	name string
	kind Kind
}{{"creator", ByAuthor}, {"assignee", ByAssignee}, {"mentioned", ByMention}}

// chooseIn makes the query for one repository; ok is false when a parameter
// names what nothing has: the list is empty (decision 25). Error: 422 for a
// milestone that is no number or not there.
func chooseIn(tx *db.Tx, a *repo.Access, c choice, r *http.Request) (q Query, ok bool, err error) {
	part := Part{RepoID: a.ID}
	q = Query{States: c.states, Since: c.since, Order: c.order}
	values := r.URL.Query()
	if m := values.Get("milestone"); m != "" {
		by, err := milestoneNamed(tx, a.ID, m)
		if err != nil {
			return q, false, err
		}
		part.Has = append(part.Has, by)
	}
	logins := map[string]string{}
	var names []string
	for _, p := range peopleParameters {
		v := values.Get(p.name)
		switch {
		case v == "":
		case p.kind == ByAssignee && v == "none":
			part.Has = append(part.Has, Property{ByAssignee, None})
		case p.kind == ByAssignee && v == "*":
			part.Has = append(part.Has, Property{ByAssignee, Any})
		default:
			logins[p.name] = account.Fold(v)
			names = append(names, v)
		}
	}
	accounts, err := account.ByLogins(tx, names)
	if err != nil {
		return q, false, err
	}
	for _, p := range peopleParameters {
		if login, asked := logins[p.name]; asked {
			who := accounts[login]
			if who == nil {
				return q, false, nil
			}
			part.Has = append(part.Has, Property{p.kind, who.ID})
		}
	}
	if len(c.labels) > 0 {
		labels, err := labelsNamed(tx, a.ID, c.labels)
		if err != nil || len(labels) < len(c.labels) {
			return q, false, err
		}
		for _, name := range c.labels {
			part.Has = append(part.Has, Property{ByLabel, labels[name].ID})
		}
	}
	if len(part.Has) == 0 {
		part.Has = []Property{{ByAll, 0}}
	}
	q.Parts = []Part{part}
	return q, true, nil
}

// milestoneNamed reads the parameter milestone: a number, * for any, or none.
func milestoneNamed(tx *db.Tx, repoID int64, v string) (Property, error) {
	switch v {
	case "*":
		return Property{ByMilestone, Any}, nil
	case "none":
		return Property{ByMilestone, None}, nil
	}
	if n, ok := parseNumber(v); ok {
		m, err := milestoneByNumber(tx, repoID, n)
		if !errs.Is(err, errs.NotFound) {
			if err != nil {
				return Property{}, err
			}
			return Property{ByMilestone, m.ID}, nil
		}
	}
	return Property{}, wrong("milestone", errs.InvalidField, v)
}

// GET /repos/{owner}/{repo}/issues
//
// List answers a page of the repository's issues and pull requests. Errors: 410,
// 422.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := enabled(a.Repo, nil); err != nil {
		return err
	}
	c, err := readChoice(r)
	if err != nil {
		return err
	}
	at := web.ReadPage(r)
	return api.serve(w, r, a, api.rendering(a, func(tx *db.Tx) ([]*Issue, error) {
		q, ok, err := chooseIn(tx, a, c, r)
		if err != nil || !ok {
			return nil, err
		}
		ids, total, err := api.s.Find(tx, q, at.Offset(), at.Size)
		if err != nil {
			return nil, err
		}
		web.Link(w, r, at, total)
		return ByIDs(tx, ids)
	}, list))
}
