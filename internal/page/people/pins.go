package people

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/pin"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// pins is what pins.html shows.
type pins struct {
	page.Frame
	Org             *shown // nil: the viewer pins to the own page
	Login           string
	Pinned, Choices []page.Repository
	Words           string // in the names of the choices
	Max             int
}

// Full reports that nothing more can be pinned.
func (v *pins) Full() bool { return len(v.Pinned) >= v.Max }

// pinsAt is the address of the page.
func pinsAt(r *http.Request) string {
	if org := web.Param(r, "org"); org != "" {
		return web.Path("orgs", org, "settings", "pins")
	}
	return "/settings/pins"
}

// GET /orgs/{org}/settings/pins
//
// OrgPinForm is PinForm for the owners of an organization. Errors: 403, 404.
func (p *Pages) OrgPinForm(w http.ResponseWriter, r *http.Request) error { return p.PinForm(w, r) }

// POST /orgs/{org}/settings/pins
//
// ChangeOrgPins is ChangePins for the owners of an organization. Errors: 403, 404.
func (p *Pages) ChangeOrgPins(w http.ResponseWriter, r *http.Request) error {
	return p.ChangePins(w, r)
}

// GET /settings/pins
//
// PinForm shows what the viewer pinned, and what else can be pinned, with the words of q in its name.
func (p *Pages) PinForm(w http.ResponseWriter, r *http.Request) error {
	v, err := p.pins(r)
	return p.t.Show(w, r, "pins.html", v, err)
}

func (p *Pages) pins(r *http.Request) (*pins, error) {
	v := &pins{Words: web.QueryOf(r).Get("q"), Max: pin.Max}
	id := account.ID(0)
	if web.Param(r, "org") != "" {
		org, err := p.owned(r)
		if err != nil {
			return nil, err
		}
		v.Org, v.Login, id = &org, org.Login, account.ID(org.ID)
	}
	var err error
	if v.Frame, err = p.kit.Frame(r, "Pinned repositories"); err != nil {
		return nil, err
	}
	if v.Org == nil {
		v.Login, id = v.Viewer.Login, account.ID(v.Viewer.ID)
	}
	v.Tab = "settings"
	reader := page.Reader(r)
	pinned, err := p.of.Pins.Of(r.Context(), reader, []account.ID{id})
	if err != nil {
		return nil, err
	}
	v.Pinned = page.NewRepositories(pinned[id])
	at := page.At(r, perList)
	found, total, err := p.of.Pins.Choices(r.Context(), reader, v.Login, v.Words, at)
	for _, a := range found {
		if !slices.ContainsFunc(pinned[id], func(x *repo.Access) bool { return x.ID == a.ID }) {
			v.Choices = append(v.Choices, page.NewRepository(a))
		}
	}
	v.Pages = page.PagerOf(r, at, total)
	return v, err
}

// POST /settings/pins
//
// ChangePins pins a repository, unpins one, or puts one before or after its neighbour. With the order of all pinned ones
// it applies that first. What is wrong is shown on the form.
func (p *Pages) ChangePins(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	login, scopes := web.Param(r, "org"), scope.AdminOrg
	if login == "" {
		login, scopes = caller(r).Login, scope.User
	}
	var ctx context.Context
	if ctx, err = p.kit.WriteOwn(r, scopes, false); err == nil {
		err = p.of.Pins.Change(ctx, caller(r), login, func(now []repo.ID) []repo.ID { return pinsAs(f, now) })
	}
	if err == nil {
		return page.Done(w, r, pinsAt(r), "The pinned repositories were saved.")
	}
	return page.RefuseWith(p.t, w, r, "pins.html", err, p.pins, nil)
}

// pinsAs is the list that a form makes of the pinned repositories.
func pinsAs(f page.Form, now []repo.ID) []repo.ID {
	id := func(name string) repo.ID { n, _ := web.ParseNumber(f.Get(name)); return repo.ID(n) }
	var list []repo.ID
	for _, text := range f.List("order") {
		n, _ := web.ParseNumber(text)
		if slices.Contains(now, repo.ID(n)) && !slices.Contains(list, repo.ID(n)) {
			list = append(list, repo.ID(n))
		}
	}
	for _, other := range now {
		if !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	if gone := id("unpin"); gone != 0 {
		return slices.DeleteFunc(list, func(x repo.ID) bool { return x == gone })
	}
	if fresh := id("pin"); fresh != 0 {
		return append(list, fresh)
	}
	for name, by := range map[string]int{"up": -1, "down": 1} {
		at := slices.Index(list, id(name))
		if to := at + by; at >= 0 && to >= 0 && to < len(list) {
			list[at], list[to] = list[to], list[at]
		}
	}
	return list
}

// PlaceOf says where a pinned repository is, for those who do not see the list.
func (v *pins) PlaceOf(n int) string { return fmt.Sprintf("%d of %d", n+1, len(v.Pinned)) }

// Last reports that a pinned repository is the last one.
func (v *pins) Last(n int) bool { return n == len(v.Pinned)-1 }
