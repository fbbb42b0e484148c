package gitdata

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxCounted is the number of commits after a page that are counted for rel="last". A longer list has next,
// first and prev, but not last.
const maxCounted = 50_000

// maxSkipped is the maximum offset of a page.
const maxSkipped = 1 << 30

// GET /repos/{owner}/{repo}/commits
//
// ListCommits lists a history, newest first: starting at sha (a branch, tag or SHA), filtered by path,
// author or committer (a login or an address), and by the times since and until.
func (api *API) ListCommits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := readFilter(web.QueryOf(r))
	if err != nil {
		return err
	}
	from := named(f.sha, true)
	return api.cached(w, r, a, basis{refs: from.refs, people: true, named: from.named},
		func(ctx context.Context) (any, error) {
			return api.listCommits(ctx, w, r, a, f)
		})
}

// filter is what a request wants of a history.
type filter struct {
	sha, path, author, committer string
	since, until                 time.Time
}

// readFilter reads the query. Errors: 422 that names the parameter.
func readFilter(q web.Query) (*filter, error) {
	f := &filter{sha: q.Get("sha"), path: strings.TrimSuffix(q.Get("path"), "/"), author: q.Get("author"),
		committer: q.Get("committer")}
	if f.path != "" {
		if err := git.CheckPath(f.path); err != nil || !utf8.ValidString(f.path) {
			return nil, badParameter("path", "path must be a path in the repository")
		}
	}
	for name, value := range map[string]string{"author": f.author, "committer": f.committer} {
		if !utf8.ValidString(value) || strings.ContainsAny(value, "\x00\r\n") {
			return nil, badParameter(name, name+" must be a login or an e-mail address")
		}
	}
	for name, to := range map[string]*time.Time{"since": &f.since, "until": &f.until} {
		value := q.Get(name)
		if value == "" {
			continue
		}
		t, ok := parseTime(value)
		if !ok {
			return nil, badParameter(name, name+" must be a time as 2011-04-22T13:33:48Z")
		}
		*to = time.Unix(max(t.Unix(), 1), 0)
	}
	return f, nil
}

func badParameter(name, message string) error {
	return errs.Validation(errs.Field{Resource: "Commit", Field: name, Code: errs.InvalidField,
		Message: message})
}

// parseTime parses ISO 8601: with a time zone, without one (UTC), or just a date.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1 && t.Year() <= 9999 {
			return t, true
		}
	}
	return time.Time{}, false
}

// options makes the walk of a filter. none reports that no commit can match.
func (api *API) options(
	ctx context.Context, f *filter, from git.SHA,
) (o git.LogOptions, none bool, err error) {
	o = git.LogOptions{From: []git.SHA{from}, Path: f.path}
	if !f.since.IsZero() {
		o.Since = f.since.Unix()
	}
	if !f.until.IsZero() {
		o.Until = f.until.Unix()
	}
	if f.author != "" {
		if o.Author, err = api.addresses(ctx, f.author); err != nil || len(o.Author) == 0 {
			return o, true, err
		}
	}
	if f.committer != "" {
		if o.Committer, err = api.addresses(ctx, f.committer); err != nil || len(o.Committer) == 0 {
			return o, true, err
		}
	}
	return o, false, nil
}

// addresses returns the addresses of a login, or an address itself. The result is empty if nothing can
// match.
func (api *API) addresses(ctx context.Context, who string) ([]string, error) {
	if strings.Contains(who, "@") {
		if git.CheckEmail(who) != nil {
			return nil, nil
		}
		return []string{who}, nil
	}
	var found []string
	err := api.db.Read(ctx, func(tx *db.Tx) error {
		found = nil
		a, err := account.ByLogin(tx, who)
		if errs.Is(err, errs.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		list, err := account.CommitEmails(tx, a)
		found = slices.DeleteFunc(list, func(email string) bool { return git.CheckEmail(email) != nil })
		return err
	})
	return found, err
}

func (api *API) listCommits(
	ctx context.Context, w http.ResponseWriter, r *http.Request, a *repo.Access, f *filter,
) (any, error) {
	from, err := api.revision(ctx, a, f.sha, false)
	if err != nil {
		return nil, err
	}
	o, none, err := api.options(ctx, f, from)
	if err != nil || none {
		return []*CommitPayload{}, err
	}
	page := web.ReadPage(r)
	shas, err := api.walk(ctx, w, r, a, page, o)
	if err != nil {
		return nil, err
	}
	return commitList{api, a, shas}, nil
}

// walk gives a page of a walk and sets its links. How long the walk is depends
// on where it starts and what it looks for, not on the page: it is counted once.
func (api *API) walk(
	ctx context.Context, w http.ResponseWriter, r *http.Request, a *repo.Access, page web.Page,
	o git.LogOptions,
) ([]git.SHA, error) {
	key := strings.Join([]string{"count", a.ID.String(), string(o.From[0]), strings.Join(o.Author, ","),
		strings.Join(o.Committer, ","),
		strconv.FormatInt(o.Since, 36), strconv.FormatInt(o.Until, 36), o.Path}, " ")
	o.Skip, o.Max = int(min(page.Offset(), maxSkipped)), int(page.Size)
	known, counted := api.lengths.Get(objectsOf(a), key)
	if !counted {
		o.Count = maxCounted
	}
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	shas, total, more, err := objects.Log(ctx, o)
	if err != nil {
		return nil, err
	}
	if counted {
		total, more = known, false
	} else if !more {
		api.lengths.Put(objectsOf(a), key, total)
	}
	if more {
		openLink(w, r, page)
	} else {
		web.Link(w, r, page, int64(total))
	}
	return shas, nil
}

// openLink sets the Link header of a list of unknown length.
func openLink(w http.ResponseWriter, r *http.Request, page web.Page) {
	web.Link(w, r, page, (page.Number+1)*page.Size)
	parts := strings.Split(w.Header().Get("Link"), ", ")
	kept := parts[:0]
	for _, p := range parts {
		if !strings.HasSuffix(p, `rel="last"`) {
			kept = append(kept, p)
		}
	}
	w.Header().Set("Link", strings.Join(kept, ", "))
}
