package issue

import (
	"cmp"
	"context"
	"net/http"
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

// ListOptions selects the issues of a list and their order. Zero values select all.
type ListOptions struct {
	State      State
	Since      db.Time  // of the last update
	Labels     []string // issues must have all of them
	OnlyIssues bool     // no pull requests
	Order      posting.Order

	// Of lists of repositories alone. The people are logins.
	Milestone          string // a number, * for any, or none
	Creator, Mentioned string
	Assignee           string // also * for any, or none
}

// readOptions reads the parameters that all lists of issues share. Errors: 422 for an invalid one (decisions
// 17, 25).
func readOptions(r *http.Request) (o ListOptions, err error) {
	state, err := web.QueryEnum(r, Resource, "state", "open", "closed", "all")
	if err != nil {
		return o, err
	}
	o.State, _ = issuekit.ParseState(state)
	if o.Order, err = readOrder(r); err != nil {
		return o, err
	}
	since, err := web.QueryTime(r, Resource, "since")
	if err != nil {
		return o, err
	}
	if !since.IsZero() {
		o.Since = db.FromTime(since)
	}
	o.Labels, err = FoldLabels(strings.Split(web.QueryOf(r).Get("labels"), ","))
	return o, err
}

// FoldLabels returns the names of labels as they are compared, each once. Error: 422.
func FoldLabels(names []string) (labels []string, err error) {
	seen := map[string]bool{}
	for _, name := range names {
		if !utf8.ValidString(name) || strings.IndexByte(name, 0) >= 0 { // not valid text (decision 19)
			return nil, wrong("labels", errs.InvalidField, nil)
		}
		folded := label.Fold(strings.TrimSpace(name))
		if folded != "" && !seen[folded] {
			seen[folded] = true
			labels = append(labels, folded)
		}
	}
	if len(labels) > MaxLabels {
		return nil, wrong("labels", errs.InvalidField, nil)
	}
	return labels, nil
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

// readInRepository reads the parameters that only lists of a repository have.
func (o *ListOptions) readInRepository(r *http.Request) {
	get := web.QueryOf(r).Get
	o.Milestone, o.Creator, o.Assignee, o.Mentioned = get("milestone"), get("creator"), get("assignee"), get("mentioned")
}

// conditions returns the conditions that are the same in all repositories.
func (o *ListOptions) conditions() posting.And {
	where := posting.And{}
	if o.State != 0 {
		where = append(where, posting.InState(o.State))
	}
	if !o.Since.IsZero() {
		where = append(where, posting.Since(o.Since))
	}
	if o.OnlyIssues {
		where = append(where, posting.Not{Expr: posting.HasOne(posting.ByPull.Of(0))})
	}
	return where
}

// in returns the conditions in each of several repositories. A repository is missing if an option names a label
// or a login that does not exist: its list is empty (decision 25). Error: [repo.Errors] with 422 if the
// milestone is not a number or does not exist.
func (o *ListOptions) in(tx *db.Tx, repos []repo.ID) (map[repo.ID]posting.And, error) {
	milestones, failed, err := o.milestones(tx, repos)
	if err != nil {
		return nil, err
	}
	people, some, err := o.people(tx)
	if err != nil || !some {
		return nil, cmp.Or(err, failed.OrNil())
	}
	labels, err := label.NamedIn(tx, repos, o.Labels)
	if err != nil {
		return nil, err
	}
	in := map[repo.ID]posting.And{}
	for _, id := range repos {
		where := o.conditions()
		if m, chosen := milestones[id]; chosen {
			where = append(where, posting.HasOne(m))
		}
		for _, name := range o.Labels {
			if l := labels[id][name]; l != nil {
				where = append(where, posting.HasOne(posting.ByLabel.Of(l.ID)))
			}
		}
		if len(labels[id]) == len(o.Labels) && failed[id] == nil {
			in[id] = append(where, people...)
		}
	}
	return in, failed.OrNil()
}

// people returns the conditions of the options that are logins. some is false if one does not exist.
func (o *ListOptions) people(tx *db.Tx) (where posting.And, some bool, err error) {
	options := [...]struct {
		login string
		kind  posting.Kind
	}{{o.Creator, posting.ByAuthor}, {o.Assignee, posting.ByAssignee}, {o.Mentioned, posting.ByMention}}
	var folded []string
	for _, p := range options {
		if p.login != "" {
			folded = append(folded, account.Fold(p.login))
		}
	}
	accounts, err := account.ByLogins(tx, folded)
	if err != nil {
		return nil, false, err
	}
	for _, p := range options {
		switch a := accounts[account.Fold(p.login)]; {
		case p.login == "":
		case p.kind == posting.ByAssignee && p.login == "none":
			where = append(where, posting.HasOne(posting.ByAssignee.Of(posting.None)))
		case p.kind == posting.ByAssignee && p.login == "*":
			where = append(where, posting.HasOne(posting.ByAssignee.Of(posting.Any)))
		case a == nil:
			return nil, false, nil
		default:
			where = append(where, posting.HasOne(p.kind.OfUser(a.ID)))
		}
	}
	return where, true, nil
}

// milestones returns the property of the chosen milestone in each repository; empty if none is chosen.
func (o *ListOptions) milestones(tx *db.Tx, repos []repo.ID) (
	in map[repo.ID]posting.Property, failed repo.Errors, err error,
) {
	in, failed = map[repo.ID]posting.Property{}, repo.Errors{}
	all := func(p posting.Property) {
		for _, id := range repos {
			in[id] = p
		}
	}
	switch o.Milestone {
	case "":
		return in, failed, nil
	case "*":
		all(posting.ByMilestone.Of(posting.Any))
		return in, failed, nil
	case "none":
		all(posting.ByMilestone.Of(posting.None))
		return in, failed, nil
	}
	var found map[repo.ID]*milestone.Milestone
	if number, ok := web.ParseNumber(o.Milestone); ok {
		if found, err = milestone.NumberedIn(tx, repos, number); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range repos {
		if m := found[id]; m != nil {
			in[id] = posting.ByMilestone.Of(m.ID)
		} else {
			failed[id] = wrong("milestone", errs.InvalidField, o.Milestone)
		}
	}
	return in, failed, nil
}

// GET /repos/{owner}/{repo}/issues
//
// List lists the repository's issues and pull requests. Errors: 410, 422.
func (api *API) List(out *web.Output, r *http.Request, a *repo.Access) error {
	if err := Enabled(a.Repo, nil); err != nil {
		return err
	}
	o, err := readOptions(r)
	if err != nil {
		return err
	}
	o.readInRepository(r)
	at := web.ReadPage(r)
	p, total, err := api.s.list(r.Context(), a, o, at)
	if err != nil {
		return err
	}
	web.Link(out, r, at, total)
	return api.renderList(out, p, 4<<10)
}

// list reads a page of the repository's issues, and how many there are.
func (s *Service) list(
	ctx context.Context, a *repo.Access, o ListOptions, at web.Page,
) (p *page, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		p, total = newPage(ctx, a), 0
		where, err := o.in(tx, []repo.ID{a.ID})
		if err = repo.ErrorOf(err, a.ID); err != nil || where[a.ID] == nil {
			return err
		}
		q := posting.Query{Repos: []posting.Repo{{ID: a.ID}}, Where: where[a.ID], Order: o.Order}
		list, found, err := s.Find(tx, q, at.Offset(), at.Size)
		if err != nil {
			return err
		}
		p.issues, total = list, found.Total
		return p.load(tx)
	})
	return p, total, err
}
