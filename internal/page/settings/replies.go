package settings

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/account/savedreply"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

type repliesView struct {
	view
	List  []savedreply.Reply
	Typed savedreply.Reply // what was not taken: of a reply, or with id 0 a new one
}

// Of is a reply with what was typed for it and not taken.
func (v *repliesView) Of(r savedreply.Reply) savedreply.Reply {
	if v.Problem != nil && v.Typed.ID == r.ID {
		return v.Typed
	}
	return r
}

// Fresh is what was typed for a new reply.
func (v *repliesView) Fresh() savedreply.Reply { return v.Of(savedreply.Reply{}) }

// Bounds are the lengths that the form allows.
func (*repliesView) Bounds() [2]int { return [2]int{savedreply.MaxTitle, savedreply.MaxBody} }

// GET /settings/replies
//
// Replies lists the caller's saved replies by title. The editor of comments takes its menu from this page.
func (p *Pages) Replies(w http.ResponseWriter, r *http.Request) error {
	v, err := p.replyList(r)
	return p.t.Show(w, r, "replies.html", v, err)
}

func (p *Pages) replyList(r *http.Request) (*repliesView, error) {
	v := &repliesView{}
	var err error
	if v.view, err = p.frame(r, "replies", "Saved replies"); err != nil {
		return nil, err
	}
	v.List, err = p.replies.List(r.Context(), caller(r))
	slices.SortStableFunc(v.List, func(a, b savedreply.Reply) int {
		return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	})
	return v, err
}

// POST /settings/replies
//
// ChangeReplies adds a saved reply, or as do says saves or removes the one of id.
func (p *Pages) ChangeReplies(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	done, err := p.changeReplies(r, f)
	if err == nil {
		return page.Done(w, r, "/settings/replies", done)
	}
	return page.RefuseWith(p.t, w, r, "replies.html", err, p.replyList, func(v *repliesView) {
		v.Typed = savedreply.Reply{ID: replyID(f), Title: f.Get("title"), Body: f.Get("body")}
	})
}

func replyID(f page.Form) savedreply.ID {
	id, _ := web.ParseNumber(f.Get("id"))
	return savedreply.ID(id)
}

// changeReplies does what the form says, and says what it did. Errors: those of [page.Kit.WriteOwn] and of package
// savedreply; a reply that is already gone can be removed.
func (p *Pages) changeReplies(r *http.Request, f page.Form) (done string, err error) {
	do, text := f.Get("do"), savedreply.Text{Title: f.Text("title"), Body: f.Get("body")}
	open := p.kit.WriteOwn
	if do == "remove" {
		open = p.kit.DeleteOwn
	}
	ctx, err := open(r, scope.User, false)
	if err != nil {
		return "", err
	}
	switch do {
	case "remove":
		if err = p.replies.Remove(ctx, caller(r), replyID(f)); errs.Is(err, errs.NotFound) {
			err = nil
		}
		return "The saved reply was deleted.", err
	case "save":
		return "The saved reply was changed.", p.replies.Edit(ctx, caller(r), replyID(f), text)
	}
	_, err = p.replies.Add(ctx, caller(r), text)
	return "The reply was saved.", err
}
