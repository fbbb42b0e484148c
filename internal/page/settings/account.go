package settings

import (
	"net/http"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/scope"
)

// accountView is the account as its owner sees it.
type accountView struct {
	view
	Uses  []use
	Zone  string // the name of the time zone that is chosen
	Zones []string
}

// use is how much the account has of something.
type use struct{ What, Has, Limit string }

// limit writes a bound; "" if there is none.
func limit(n *int64, write func(int64) string) string {
	if n == nil || *n == account.Unbounded {
		return ""
	}
	return write(*n)
}

// GET /settings/account
//
// Account shows the time zone, what the account uses of its quotas and who can rename and delete it, and leads site
// administrators there.
func (p *Pages) Account(w http.ResponseWriter, r *http.Request) error {
	v, err := p.accountView(r)
	return p.t.Show(w, r, "account.html", v, err)
}

func (p *Pages) accountView(r *http.Request) (*accountView, error) {
	f, err := p.frame(r, "account", "Account")
	if err != nil {
		return nil, err
	}
	q, u, err := p.accounts.QuotaFor(r.Context(), caller(r).ID)
	if err != nil {
		return nil, err
	}
	q = q.Or(p.repos.Quota).Or(account.Quota{Text: &p.accounts.TextLimits.KB})
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	v := &accountView{view: f, Zone: caller(r).TimeZone, Zones: account.TimeZones(), Uses: []use{
		{"Repositories", number(u.Repos), limit(q.Repos, number)},
		{"Git and files", page.Bytes(u.KB << 10), limit(q.KB, account.Kibibytes)},
		{"Text, such as issues and comments", page.Bytes(u.TextKB << 10), limit(q.Text, account.Kibibytes)},
	}}
	if v.Zone != "" && !slices.Contains(v.Zones, v.Zone) {
		v.Zones = append(v.Zones, v.Zone) // an older name, as some browsers have it
	}
	return v, nil
}

// POST /settings/account
//
// SaveZone sets the time zone in which pages show times to the caller.
func (p *Pages) SaveZone(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	ctx, err := p.kit.WriteOwn(r, scope.User, false)
	if err == nil {
		err = p.accounts.SetTimeZone(ctx, caller(r), f.Get("time_zone"))
	}
	if err == nil {
		return page.Done(w, r, "/settings/account", "Your time zone was saved.")
	}
	return page.RefuseWith(p.t, w, r, "account.html", err, p.accountView, nil)
}
