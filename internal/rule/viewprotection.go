package rule

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// API answers the requests about rules.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// enabledJSON is a part of a protection that is on or off.
type enabledJSON struct {
	URL     string `json:"url,omitempty"`
	Enabled bool   `json:"enabled"`
}

// checksJSON is GitHub's status-check-policy.
type checksJSON struct {
	URL         string      `json:"url"`
	Strict      bool        `json:"strict"`
	Contexts    []string    `json:"contexts"`
	ContextsURL string      `json:"contexts_url"`
	Checks      []CheckJSON `json:"checks"`
}

// CheckJSON is a required status check in payloads.
type CheckJSON struct {
	Context string         `json:"context"`
	App     *account.AppID `json:"app_id"`
}

// actorsJSON are users, teams and Apps.
type actorsJSON struct {
	Users []*account.Simple `json:"users"`
	Teams []*team.Payload   `json:"teams"`
	Apps  []*app.Payload    `json:"apps"`
}

// dismissersJSON are those who may dismiss reviews.
type dismissersJSON struct {
	URL      string `json:"url"`
	UsersURL string `json:"users_url"`
	TeamsURL string `json:"teams_url"`
	actorsJSON
}

// restrictionsJSON is GitHub's branch-restriction-policy.
type restrictionsJSON struct {
	URL      string `json:"url"`
	UsersURL string `json:"users_url"`
	TeamsURL string `json:"teams_url"`
	AppsURL  string `json:"apps_url"`
	actorsJSON
}

// reviewsJSON is GitHub's protected-branch-pull-request-review.
type reviewsJSON struct {
	URL          string          `json:"url"`
	DismissStale bool            `json:"dismiss_stale_reviews"`
	CodeOwners   bool            `json:"require_code_owner_reviews"`
	Approvals    int64           `json:"required_approving_review_count"`
	LastPush     bool            `json:"require_last_push_approval"`
	Dismissers   *dismissersJSON `json:"dismissal_restrictions,omitempty"`
	Exempt       *actorsJSON     `json:"bypass_pull_request_allowances,omitempty"`
}

// protectionJSON is GitHub's branch-protection.
type protectionJSON struct {
	URL           string            `json:"url"`
	Checks        *checksJSON       `json:"required_status_checks,omitempty"`
	Reviews       *reviewsJSON      `json:"required_pull_request_reviews,omitempty"`
	Signatures    enabledJSON       `json:"required_signatures"`
	Admins        enabledJSON       `json:"enforce_admins"`
	Restrictions  *restrictionsJSON `json:"restrictions,omitempty"`
	Linear        enabledJSON       `json:"required_linear_history"`
	ForcePushes   enabledJSON       `json:"allow_force_pushes"`
	Deletions     enabledJSON       `json:"allow_deletions"`
	NoCreations   enabledJSON       `json:"block_creations"`
	Conversations enabledJSON       `json:"required_conversation_resolution"`
	Locked        enabledJSON       `json:"lock_branch"`
	ForkSyncing   enabledJSON       `json:"allow_fork_syncing"`
}

// protectionView is a protection with whom it names.
type protectionView struct {
	*Protection
	in    *repo.Access
	url   string // of the protection
	known *Known
	info  *web.Info
}

// view loads whom a protection names.
func (api *API) view(ctx context.Context, a *repo.Access, branch string, p *Protection) (*protectionView, error) {
	info := web.From(ctx)
	v := &protectionView{Protection: p, in: a, info: info,
		url: info.API(web.Path("repos", a.Owner.Login, a.Name, "branches", branch, "protection"))}
	return v, api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		v.known, err = know(tx, a.Caller, p.actors())
		return err
	})
}

func (v *protectionView) enabled(name string, is bool) enabledJSON {
	return enabledJSON{v.url + "/" + name, is}
}

// actors renders those of the actors that the caller may see.
func (v *protectionView) actors(a *Actors) actorsJSON {
	shown := v.known.Show(v.in, a)
	out := actorsJSON{[]*account.Simple{}, team.NewPayloads(shown.Teams, v.info), []*app.Payload{}}
	for _, user := range shown.Users {
		out.Users = append(out.Users, account.NewSimple(user, v.info))
	}
	for _, one := range shown.Apps {
		out.Apps = append(out.Apps, app.JSON(one, v.info))
	}
	return out
}

func (v *protectionView) checks() *checksJSON {
	if v.Checks == nil {
		return nil
	}
	url := v.url + "/required_status_checks"
	return &checksJSON{URL: url, Strict: v.Checks.Strict, Contexts: v.Checks.Contexts(),
		ContextsURL: url + "/contexts", Checks: v.Checks.JSON()}
}

// JSON returns the required status checks as payloads show them.
func (p *ChecksRule) JSON() []CheckJSON {
	list := make([]CheckJSON, len(p.Checks))
	for n, c := range p.Checks {
		list[n] = CheckJSON{c.Context, web.OrNil(c.App)}
	}
	return list
}

func (v *protectionView) reviews() *reviewsJSON {
	r := v.Reviews
	if r == nil {
		return nil
	}
	out := &reviewsJSON{URL: v.url + "/required_pull_request_reviews", DismissStale: r.DismissStale,
		CodeOwners: r.CodeOwners, Approvals: r.Approvals, LastPush: r.LastPush}
	if r.Exempt != nil {
		out.Exempt = new(v.actors(r.Exempt))
	}
	if r.Dismissers != nil {
		url := v.url + "/dismissal_restrictions"
		out.Dismissers = &dismissersJSON{url, url + "/users", url + "/teams", v.actors(r.Dismissers)}
	}
	return out
}

func (v *protectionView) restrictions() *restrictionsJSON {
	if !v.Restricted {
		return nil
	}
	url := v.url + "/restrictions"
	return &restrictionsJSON{url, url + "/users", url + "/teams", url + "/apps", v.actors(&v.Pushers)}
}

func (v *protectionView) protection() *protectionJSON {
	on := func(is bool) enabledJSON { return enabledJSON{Enabled: is} }
	return &protectionJSON{URL: v.url, Checks: v.checks(), Reviews: v.reviews(), Restrictions: v.restrictions(),
		Signatures: v.enabled("required_signatures", v.Signatures), Admins: v.enabled("enforce_admins", v.Admins),
		Linear: on(v.Linear), ForcePushes: on(v.ForcePushes), Deletions: on(v.Deletions),
		NoCreations: on(v.NoCreations), Conversations: on(v.Conversations), Locked: on(v.Locked),
		ForkSyncing: on(v.ForkSyncing)}
}
