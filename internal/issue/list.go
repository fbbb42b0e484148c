package issue

import (
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/label"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// choice is what the parameters of a list ask for.
type choice struct {
	states []State
	labels []string
	order  posting.Order
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
	if s, ok := tracker.ParseState(state); ok {
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
	labels := web.QueryOf(r).Get("labels")
	if !utf8.ValidString(labels) || strings.IndexByte(labels, 0) >= 0 { // no text (decision 19)
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
	return posting.Order{Sort: map[string]posting.Sort{"updated": posting.Updated, "comments": posting.Comments}[sort], Asc: direction == "asc"}, err
}

// people are the parameters of a repository's list that name logins, and what
// they choose by.
var peopleParameters = [...]struct {
	name string
	kind posting.Kind
}{{"creator", posting.ByAuthor}, {"assignee", posting.ByAssignee}, {"mentioned", posting.ByMention}}

// chooseIn makes the query for one repository; ok is false when a parameter
// names what nothing has: the list is empty (decision 25). Error: 422 for a
// milestone that is no number or not there.
func chooseIn(n names, a *repo.Access, c choice, r *http.Request) (q posting.Query, ok bool, err error) {
	part := posting.Part{RepoID: a.ID}
	q = posting.Query{States: c.states, Since: c.since, Order: c.order}
	values := web.QueryOf(r)
	if m := values.Get("milestone"); m != "" {
		by, err := milestoneNamed(n, m)
		if err != nil {
			return q, false, err
		}
		part.Has = append(part.Has, by)
	}
	logins := map[string]string{}
	var people []string
	for _, p := range peopleParameters {
		v := values.Get(p.name)
		switch {
		case v == "":
		case p.kind == posting.ByAssignee && v == "none":
			part.Has = append(part.Has, posting.ByAssignee.Of(posting.None))
		case p.kind == posting.ByAssignee && v == "*":
			part.Has = append(part.Has, posting.ByAssignee.Of(posting.Any))
		default:
			logins[p.name] = account.Fold(v)
			people = append(people, v)
		}
	}
	accounts, err := n.logins(people)
	if err != nil {
		return q, false, err
	}
	for _, p := range peopleParameters {
		if login, asked := logins[p.name]; asked {
			who := accounts[login]
			if who == nil {
				return q, false, nil
			}
			part.Has = append(part.Has, p.kind.Of(who.ID))
		}
	}
	if len(c.labels) > 0 {
		labels, err := n.labels(c.labels)
		if err != nil || len(labels) < len(c.labels) {
			return q, false, err
		}
		for _, name := range c.labels {
			part.Has = append(part.Has, posting.ByLabel.Of(labels[name].ID))
		}
	}
	if len(part.Has) == 0 {
		part.Has = []posting.Property{posting.ByAll.Of(0)}
	}
	q.Parts = []posting.Part{part}
	return q, true, nil
}

// milestoneNamed reads the parameter milestone: a number, * for any, or none.
func milestoneNamed(n names, v string) (posting.Property, error) {
	switch v {
	case "*":
		return posting.ByMilestone.Of(posting.Any), nil
	case "none":
		return posting.ByMilestone.Of(posting.None), nil
	}
	if number, ok := web.ParseNumber(v); ok {
		m, err := n.milestone(number)
		if !errs.Is(err, errs.NotFound) {
			if err != nil {
				return posting.Property{}, err
			}
			return posting.ByMilestone.Of(m.ID), nil
		}
	}
	return posting.Property{}, wrong("milestone", errs.InvalidField, v)
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
	inMemory, bySQL := api.listing(w, r, a, c)
	if !api.asked.Again(string(tracker.Name(web.From(r.Context()), a)) + r.URL.RequestURI()) {
		if done, err := api.listOnce(w, r, inMemory); done || err != nil {
			return err
		}
	}
	return api.answers.Serve(w, r, a, func(out *web.Output) error {
		if ok, err := inMemory(out); ok || err != nil {
			return err
		}
		return bySQL(out)
	})
}

// listOnce answers with a list that nobody asked for lately: it is made where the
// last one was, and not kept. It reports false where memory cannot make it.
func (api *API) listOnce(w http.ResponseWriter, r *http.Request, inMemory listRender) (done bool, err error) {
	room, _ := api.rooms.Get().(*[]byte)
	if room == nil {
		room = new([]byte)
	}
	defer func() {
		if cap(*room) <= web.MaxHeld {
			api.rooms.Put(room)
		}
	}()
	err = web.AnswerIn(room, w, r, http.StatusOK, func(out *web.Output) error {
		ok, err := inMemory(out)
		if err == nil && !ok {
			err = errNotInMemory
		}
		return err
	})
	if errors.Is(err, errNotInMemory) {
		return false, nil
	}
	return err == nil, err
}

var errNotInMemory = errors.New("issue: the list is not made from memory")

// listRender renders a list. ok is false where memory cannot make it; nothing is
// rendered then.
type listRender func(out *web.Output) (ok bool, err error)

// listing makes what renders a list of the repository's issues: from memory,
// which reports false where it cannot, and by SQL.
func (api *API) listing(w http.ResponseWriter, r *http.Request, a *repo.Access, c choice) (
	inMemory listRender, bySQL web.Render) {
	at := web.ReadPage(r)
	choose := func(n names) (posting.Query, bool, error) { return chooseIn(n, a, c, r) }
	inMemory = func(out *web.Output) (bool, error) {
		ctx := out.Context()
		p := newPage(ctx, a)
		total, ok, err := api.s.recall(ctx, p, a, at, choose)
		if err == nil && ok {
			err = api.s.rollups(ctx, p)
		}
		if err != nil || !ok {
			return false, err
		}
		web.Link(w, r, at, total)
		return true, api.finishPage(out, a, p)
	}
	bySQL = api.rendering(a, func(tx *db.Tx) ([]*Issue, error) {
		q, ok, err := choose(namesInSQL{tx, a.ID})
		if err != nil {
			return nil, err
		}
		if !ok {
			tx.OnCommit(func() { web.Link(w, r, at, 0) })
			return nil, nil
		}
		issues, total, err := api.s.List(tx, q, at.Offset(), at.Size)
		if err == nil {
			tx.OnCommit(func() { web.Link(w, r, at, total) })
		}
		return issues, err
	}, list)
	return inMemory, bySQL
}
