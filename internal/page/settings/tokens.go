package settings

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/repo/list"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// tokenRow is a token that the caller made.
type tokenRow struct {
	token.Token
	Expired bool
	Names   []string // of the repositories that it was made for, and that the caller sees
	Hidden  int      // how many others it was made for
}

// Can says in a few words what the token may do.
func (t *tokenRow) Can() string {
	switch {
	case t.Grant.Fine && t.Grant.Changes:
		return "Changes these repositories:"
	case t.Grant.Fine:
		return "Reads these repositories:"
	case !t.Grant.Limited():
		return "All that you may do."
	case t.Grant.Scopes == 0:
		return "Reads what is public."
	}
	return t.Grant.Scopes.String()
}

type tokensView struct {
	view
	List []tokenRow
}

// GET /settings/tokens
//
// Tokens lists the caller's tokens: how they begin, what they may do, until when, and when they were last
// used.
func (p *Pages) Tokens(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "tokens", "Tokens")
	if err != nil {
		return err
	}
	found, err := p.tokens.OwnTokens(r.Context(), caller(r))
	if err != nil {
		return err
	}
	v := &tokensView{view: f}
	v.List, err = p.named(r, found)
	return p.t.Show(w, r, "tokens.html", v, err)
}

// named finds the names of the tokens' repositories that the caller sees, in one query.
func (p *Pages) named(r *http.Request, found []token.Token) ([]tokenRow, error) {
	var ids []repo.ID
	for _, t := range found {
		for _, id := range t.RepoIDs {
			ids = append(ids, repo.ID(id))
		}
	}
	names, err := p.repos.NamesOf(r.Context(), caller(r), ids)
	if err != nil {
		return nil, err
	}
	list := make([]tokenRow, len(found))
	for n, t := range found {
		list[n] = tokenRow{Token: t, Expired: !t.ExpiresAt.IsZero() && !t.ExpiresAt.Time().After(time.Now())}
		for _, id := range t.RepoIDs {
			if name, seen := names[repo.ID(id)]; seen {
				list[n].Names = append(list[n].Names, name)
			} else {
				list[n].Hidden++
			}
		}
	}
	return list, nil
}

// POST /settings/tokens
//
// RevokeToken ends the caller's token id.
func (p *Pages) RevokeToken(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	id, _ := web.ParseNumber(f.Get("id"))
	if err := p.tokens.RevokeOwnToken(r.Context(), caller(r), id); err != nil &&
		!errs.Is(err, errs.NotFound) {
		return err
	}
	return page.Done(w, r, "/settings/tokens", "The token was revoked.")
}

// scopes are those on offer, each with the ones that it includes.
var scopes = []struct {
	Name, What string
	Within     bool // another one above includes it
}{
	{"repo", "All of public and private repositories", false}, {"repo:status", "Statuses of commits", true},
	{"public_repo", "Public repositories", true}, {"delete_repo", "Delete repositories", false},
	{"admin:org", "Organizations, their members and their settings", false},
	{"write:org", "Show or hide one’s own membership", true},
	{"read:org", "Read memberships", true}, {"user", "Change the profile and e-mail addresses", false},
	{"user:email", "Read e-mail addresses", true}, {"user:follow", "Follow people", true},
	{"admin:public_key", "SSH keys", false}, {"write:public_key", "Add SSH keys", true},
	{"read:public_key", "Read SSH keys", true},
	{"admin:repo_hook", "Webhooks of repositories", false}, {"write:repo_hook", "Change webhooks", true},
	{"read:repo_hook", "Read webhooks", true}, {"admin:org_hook", "Webhooks of organizations", false},
	{"notifications", "Notifications", false}, {"read:audit_log", "Audit logs of organizations", false},
	{"plants", "The plant store", false},
}

// lives are how long a token may last, as token.ParseExpiry reads it.
var lives = [][2]string{{"7d", "7 days"}, {"30d", "30 days"}, {"90d", "90 days"}, {"365d", "1 year"},
	{"never", "Until it is revoked"}}

// newTokenView is the form of a new token, and what is shown of it once.
type newTokenView struct {
	view
	Fine    bool // for repositories that are chosen; else with scopes
	Note    string
	Scopes  any
	Chosen  []string // scopes
	Life    page.Choice
	Repos   []page.Repository // some of those that the caller has a part in
	RepoIDs []string          // that were chosen
	Others  string            // OWNER/NAME of further ones
	Changes bool
	Admin   bool // may choose the scope site_admin

	Value string // the token that was made; empty: none
}

// Has reports that a scope or a repository's id was chosen.
func (v *newTokenView) Has(name any) bool {
	switch x := name.(type) {
	case string:
		return slices.Contains(v.Chosen, x)
	case int64:
		return slices.Contains(v.RepoIDs, account.ID(x).String())
	}
	return false
}

// GET /settings/tokens/new
//
// NewToken shows the form of a token with scopes, or with kind=repositories of one for chosen repositories.
func (p *Pages) NewToken(w http.ResponseWriter, r *http.Request) error {
	v, err := p.newToken(r, web.QueryOf(r).Get("kind") == "repositories")
	return p.t.Show(w, r, "newtoken.html", v, err)
}

func (p *Pages) newToken(r *http.Request, fine bool) (*newTokenView, error) {
	f, err := p.frame(r, "tokens", "New token")
	if err != nil {
		return nil, err
	}
	v := &newTokenView{view: f, Fine: fine, Scopes: scopes, Admin: caller(r).SiteAdmin,
		Life: page.Choice{Name: "life", Label: "Lasts", Chosen: "30d", Options: lives}}
	if fine {
		repos, _, err := p.lists.Own(r.Context(), caller(r), list.Part{Uncounted: true},
			list.Order{By: "pushed", Desc: true}, page.First(100))
		if err != nil {
			return nil, err
		}
		v.Repos = page.NewRepositories(repos)
	}
	return v, nil
}

// POST /settings/tokens/new
//
// CreateToken creates a token, and shows it only now.
func (p *Pages) CreateToken(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.newToken(r, f.Get("kind") == "repositories")
	if err != nil {
		return err
	}
	v.Note, v.Chosen, v.RepoIDs, v.Others = f.Text("note"), f.List("scopes"), f.List("repos"), f.Get("others")
	v.Life.Chosen, v.Changes = f.Get("life"), f.Checked("changes")
	n, err := p.readToken(r, v)
	ctx := r.Context()
	if err == nil {
		ctx, err = p.kit.Room(ctx, caller(r))
	}
	if err == nil {
		v.Value, err = p.tokens.CreateOwnToken(ctx, caller(r), n)
	}
	if err == nil {
		return p.t.Secret(w, r, "newtoken.html", v)
	}
	return p.t.Refuse(w, r, "newtoken.html", err, v)
}

// maxOthers is how many repositories may be named besides those that the form lists.
const maxOthers = 20

// readToken reads what kind of token is wanted. Errors: 422.
func (p *Pages) readToken(r *http.Request, v *newTokenView) (n token.NewToken, err error) {
	n.Note, n.Changes = v.Note, v.Fine && v.Changes
	if v.Note == "" {
		return n, errs.New(errs.Invalid, "Say what the token is for.")
	}
	if v.Life.Chosen != "never" {
		if n.Expires, err = token.ParseExpiry(v.Life.Chosen, time.Now()); err != nil {
			return n, err
		}
		if n.Expires == 0 {
			return n, errs.New(errs.Invalid, "Choose how long the token lasts.")
		}
	}
	if !v.Fine {
		n.Scopes, err = scope.Parse(strings.Join(v.Chosen, ","))
		return n, err
	}
	n.Repos, err = p.chosenRepos(r, v)
	if err == nil && len(n.Repos) == 0 {
		err = errs.New(errs.Invalid, "Choose the repositories that the token is for.")
	}
	return n, err
}

// chosenRepos are the repositories that a form names; the caller must see all of them. Errors: 422.
func (p *Pages) chosenRepos(r *http.Request, v *newTokenView) (list []int64, err error) {
	var ids []repo.ID
	for _, text := range v.RepoIDs {
		id, _ := web.ParseNumber(text)
		ids = append(ids, repo.ID(id))
	}
	names := strings.Fields(strings.ReplaceAll(v.Others, ",", " "))
	if len(names) > maxOthers {
		return nil, errs.Newf(errs.Invalid, "At most %d repositories can be named at a time.", maxOthers)
	}
	for _, full := range names {
		owner, name, _ := strings.Cut(full, "/")
		found, err := p.repos.Find(r.Context(), caller(r), owner, name)
		if errs.Is(err, errs.NotFound) {
			err = errs.Newf(errs.Invalid, "Repository %q not found.", errs.Clip(full))
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, found.ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	seen, err := p.repos.NamesOf(r.Context(), caller(r), ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, is := seen[id]; !is {
			return nil, errs.New(errs.Invalid, "One of the repositories is not there, or you do not see it.")
		}
		list = append(list, int64(id))
	}
	return list, nil
}
