package text

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/autolink"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issuekit"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// targets are the accounts, issues and commits that the texts of a page link to.
type targets struct {
	images  func(html string) string
	info    *web.Info
	people  map[string]*account.Account // by folded login
	repos   map[string]*repo.Access     // by folded OWNER/NAME
	issues  map[issueKey]linked
	commits map[commitKey]git.SHA
	auto    map[repo.ID]markdown.Autolinks
}

type issueKey struct {
	repo   repo.ID
	number int64
}

// linked holds the data of an issue that a link shows.
type linked struct {
	pull  bool
	title string
}

type commitKey struct {
	repo   repo.ID
	prefix string
}

// MaxTargets is the number of issues, and of accounts, that the texts of a page link to. Further references
// are not linked.
const MaxTargets = 500

// Limits of lookups for a page of texts.
const (
	maxRepos   = 100
	maxCommits = 200
)

func (r *Renderer) findTargets(
	ctx context.Context, list []Source, docs []*markdown.Document,
) (*targets, error) {
	images := func(html string) string { return r.Images.HTML(ctx, html) }
	t := &targets{images: images, info: web.From(ctx), issues: map[issueKey]linked{}, commits: map[commitKey]git.SHA{}}
	refs, own := make([]markdown.References, len(docs)), map[string]*repo.Access{}
	var logins, repos []string
	var caller *account.Caller
	for n, doc := range docs {
		if doc == nil {
			continue
		}
		a := list[n].Access
		caller = a.Caller
		if a.ID != 0 {
			own[account.Fold(a.FullName())] = a
		}
		refs[n] = doc.References()
		logins = append(logins, refs[n].Logins...)
		for _, i := range refs[n].Issues {
			repos = appendName(repos, i.Owner, i.Repo)
		}
		for _, c := range refs[n].Commits {
			repos = appendName(repos, c.Owner, c.Repo)
		}
	}
	var homes []repo.ID
	for _, a := range own {
		if a.Autolinks {
			homes = append(homes, a.ID)
		}
	}
	err := r.db.Read(ctx, func(tx *db.Tx) (err error) {
		if t.auto, err = autolink.OfMany(tx, homes); err != nil {
			return err
		}
		if t.people, err = account.ByLogins(tx, logins); err != nil {
			return err
		}
		visible, err := repo.VisibleNamed(tx, caller, repos)
		if err != nil {
			return err
		}
		t.repos = maps.Clone(own)
		for _, a := range visible {
			t.repos[account.Fold(a.FullName())] = a
		}
		var keys []issueKey
		for n := range refs {
			for _, i := range refs[n].Issues {
				if a := t.repos[FullName(list[n].Access, i.Owner, i.Repo)]; a != nil &&
					len(keys) < MaxTargets {
					keys = append(keys, issueKey{a.ID, i.Number})
				}
			}
		}
		t.issues, err = linkedTo(tx, keys)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, r.findCommits(ctx, t, list, refs)
}

// appendName adds the name of another repository unless it is in the list.
func appendName(names []string, owner, name string) []string {
	if full := account.Fold(owner + "/" + name); owner != "" && !slices.Contains(names, full) &&
		len(names) < maxRepos {
		names = append(names, full)
	}
	return names
}

// FullName returns the folded OWNER/NAME of a reference in a text of the repository.
func FullName(a *repo.Access, owner, name string) string {
	if owner == "" {
		return account.Fold(a.FullName())
	}
	return account.Fold(owner + "/" + name)
}

func (r *Renderer) findCommits(
	ctx context.Context, t *targets, list []Source, refs []markdown.References,
) error {
	for n := range refs {
		for _, c := range refs[n].Commits {
			a := t.repos[FullName(list[n].Access, c.Owner, c.Repo)]
			if a == nil || len(t.commits) >= maxCommits {
				continue
			}
			key := commitKey{a.ID, c.SHA}
			if _, done := t.commits[key]; done {
				continue
			}
			sha, err := r.commit(ctx, a, c.SHA)
			// If the repository's directory is broken, texts are rendered without links to commits.
			if err != nil && !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Invalid) && !repo.Broken(err) {
				return err
			}
			t.commits[key] = sha
		}
	}
	return nil
}

// commit resolves a SHA or an unambiguous prefix among the commits reachable from refs, because everyone
// can see the text.
func (r *Renderer) commit(ctx context.Context, a *repo.Access, prefix string) (git.SHA, error) {
	sha, err := git.ParseSHA(prefix)
	if err != nil {
		return r.repos.FindCommit(ctx, a, prefix)
	}
	reached, err := r.repos.Reached(ctx, a, sha)
	if err != nil || !reached {
		return "", err
	}
	objects, release, err := r.repos.Git(ctx, a)
	if err != nil {
		return "", err
	}
	defer release()
	if !objects.Exists() {
		return "", errs.Absent() // saves starting a git process
	}
	o, err := objects.Info(ctx, sha)
	if err == nil && o.Type != git.TypeCommit {
		return "", errs.Absent()
	}
	return o.SHA, err
}

// html renders a text of a repository.
func (t *targets) html(doc *markdown.Document, a *repo.Access) string {
	return t.images(t.auto[a.ID].HTML(doc.HTML(t.links(a))))
}

// links returns the links of texts of one repository.
func (t *targets) links(a *repo.Access) markdown.Links {
	return markdown.Links{
		Login: func(login string) (string, bool) {
			who := t.people[login]
			if who == nil {
				return "", false
			}
			return t.info.Page("/" + who.Login), true
		},
		Issue: func(owner, name string, number int64) (url, title string, ok bool) {
			to := t.repos[FullName(a, owner, name)]
			if to == nil {
				return "", "", false
			}
			i, there := t.issues[issueKey{to.ID, number}]
			if !there || !i.pull && !to.HasIssues {
				return "", "", false
			}
			page := web.Path(to.Owner.Login, to.Name) + issuekit.PageSegment(i.pull) +
				strconv.FormatInt(number, 10)
			return t.info.Page(page), i.title, true
		},
		Commit: func(owner, name, sha string) (string, bool) {
			to := t.repos[FullName(a, owner, name)]
			if to == nil {
				return "", false
			}
			full := t.commits[commitKey{to.ID, sha}]
			return t.info.Page(web.Path(to.Owner.Login, to.Name) + "/commit/" + string(full)), full != ""
		},
	}
}
