package old

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// perPage is how many repositories an owner's page lists.
const perPage = 100

// ownerView is what owner.html shows. Empty texts are left out.
type ownerView struct {
	ID                           account.ID
	Login, Name, Kind            string
	Bio, Company, Location, Blog string
	PublicRepos                  int64
	Followers, Following         int64
	Repos                        []repoItem
	Next                         string // address of the next page; empty when there is none
}

type repoItem struct {
	Name, Path, Description string
	Pushed, PushedDay       string
}

// GET /{owner}
//
// Owner answers the page of a user or an organization: who it is, and its
// public repositories by name, a hundred at a time after the query's `after`.
// Error: 404.
func (p *Pages) Owner(w http.ResponseWriter, r *http.Request) error {
	web.From(r.Context()).Form = p.render.errors
	after := r.URL.Query().Get("after")
	if !utf8.ValidString(after) || strings.IndexByte(after, 0) >= 0 {
		after = ""
	}
	var who *account.Account
	var repos []listed
	err := p.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if who, err = account.ByLogin(tx, web.Param(r, "owner")); err != nil {
			return err
		}
		repos, err = publicRepos(tx, who, account.Fold(after), perPage+1)
		return err
	})
	if err != nil {
		return err
	}
	return p.render.page(w, r, "owner.html", newOwnerView(who, repos))
}

func newOwnerView(who *account.Account, repos []listed) *ownerView {
	v := &ownerView{
		ID: who.ID, Login: who.Login, Name: or(who.Name, who.Login), Kind: strings.ToLower(who.Kind.String()),
		Bio: or(who.Bio, ""), Company: or(who.Company, ""), Location: or(who.Location, ""), Blog: webAddress(who.Blog),
		PublicRepos: who.PublicRepos, Followers: who.Followers, Following: who.Following,
	}
	if len(repos) > perPage {
		repos = repos[:perPage]
		v.Next = web.Path(who.Login) + "?after=" + url.QueryEscape(repos[perPage-1].folded)
	}
	for _, l := range repos {
		v.Repos = append(v.Repos, l.item(l.name))
	}
	return v
}

// item is the repository in a list that calls it by name.
func (l listed) item(name string) repoItem {
	return repoItem{Name: name, Path: web.Path(l.owner, l.name), Description: or(l.description, ""),
		Pushed: stamp(l.pushedAt), PushedDay: day(l.pushedAt)}
}

// webAddress is an address that people gave of themselves, when it is one that
// a browser may safely follow.
func webAddress(text *string) string {
	u, err := url.Parse(or(text, ""))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.String()
}
