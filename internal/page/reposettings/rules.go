package reposettings

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/web"
)

// rulesView is the protections of the repository, and the rulesets that clients of the API created.
type rulesView struct {
	view
	Protections []protection
	Rulesets    []*rule.Ruleset
	Form        protection // being created or edited
	Queues      []queueForm
	Queue       *queueForm // being created or edited
}

// protection is a protection of branches as the page shows it.
type protection struct {
	ID int64
	*rule.Protection
	// Who may push, push without a pull request, dismiss reviews, and force-push, a line each, as people write them.
	Push, Exempt, Dismiss, Force string
}

// Approvals returns how many approvals are required; -1 if branches may be pushed without a pull request.
func (p protection) Approvals() int64 {
	if p.Reviews == nil {
		return -1
	}
	return p.Reviews.Approvals
}

// Contexts returns the names of the required status checks, a line each.
func (p protection) Contexts() string {
	if p.Checks == nil {
		return ""
	}
	return strings.Join(p.Checks.Contexts(), "\n")
}

func newProtection(known *rule.Known, a *repo.Access, set *rule.Ruleset) protection {
	p := protection{ID: set.ID, Protection: rule.AsProtection(set)}
	lines := func(of *rule.Actors) string { return strings.Join(known.Show(a, of).Words(), "\n") }
	p.Push, p.Force = lines(&p.Pushers), lines(p.ForcePushers)
	if p.Reviews != nil {
		p.Exempt, p.Dismiss = lines(p.Reviews.Exempt), lines(p.Reviews.Dismissers)
	}
	return p
}

// GET /{owner}/{repo}/settings/rules
//
// Rules lists the protections and the merge queues of branches; edit is the id of a protection to be edited, and queue
// that of a ruleset whose merge queue is. Errors: 401, 403.
func (p *Pages) Rules(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.rules(r, a)
	return p.t.Show(w, r, "rules.html", v, err)
}

func (p *Pages) rules(r *http.Request, a *repo.Access) (*rulesView, error) {
	v := &rulesView{Form: protection{Protection: &rule.Protection{Pattern: a.DefaultBranch, Admins: true,
		Reviews: &rule.PullRequestRule{Approvals: 1}}}}
	var err error
	if v.view, err = p.frame(r, a, "rules", "Branch rules"); err != nil {
		return nil, err
	}
	list, err := p.of.Rules.Protections(r.Context(), a)
	if err != nil {
		return nil, err
	}
	known, err := p.of.Rules.Known(r.Context(), a, list)
	if err != nil {
		return nil, err
	}
	edited, _ := web.ParseNumber(web.QueryOf(r).Get("edit"))
	for _, one := range list {
		shown := newProtection(known, a, one)
		v.Protections = append(v.Protections, shown)
		if one.ID == edited {
			v.Form = shown
		}
	}
	if v.Rulesets, err = p.of.Rules.List(r.Context(), rule.OfRepository(a)); err != nil {
		return nil, err
	}
	v.Queue = &queueForm{Name: "merge queue", Branches: a.DefaultBranch, QueueRule: rule.NewQueueRule()}
	edited, _ = web.ParseNumber(web.QueryOf(r).Get("queue"))
	for _, set := range v.Rulesets {
		if queueRuleOf(set) == nil {
			continue
		}
		shown := newQueueForm(set)
		v.Queues = append(v.Queues, shown)
		if set.ID == edited {
			v.Queue = &shown
		}
	}
	return v, nil
}

// POST /{owner}/{repo}/settings/rules
//
// ChangeRules creates or replaces the protection of a pattern, or with do=remove removes the one of id. With
// do=queue it creates a merge queue, or changes the one of the ruleset of id, and with do=unqueue removes that.
// Errors: 401, 403.
func (p *Pages) ChangeRules(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayAdmin(a); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	var form *rule.Protection
	var queue *queueForm
	done := "The branch rule was saved."
	switch f.Get("do") {
	case "remove":
		done, err = "The branch rule was removed.", p.removeRule(r, a, f.Get("id"))
	case "queue":
		queue, done = readQueue(f), "The merge queue was saved."
		err = inQueueForm(p.saveQueue(r, a, queue))
	case "unqueue":
		done, err = "The merge queue was removed.", p.removeQueue(r, a, f.Get("id"))
	default:
		form, err = p.saveRule(r, a, f)
	}
	if err == nil {
		return page.Done(w, r, at(a, "/rules"), done)
	}
	return page.RefuseWith(p.t, w, r, "rules.html", err,
		func(r *http.Request) (*rulesView, error) { return p.rules(r, a) },
		func(v *rulesView) {
			if form != nil {
				v.Form.Protection = form
				v.Form.Push, v.Form.Exempt, v.Form.Dismiss = f.Get("pushers"), f.Get("exempt"), f.Get("dismissers")
			}
			if queue != nil {
				v.Queue = queue
			}
		})
}

// saveRule stores what a form says. Settings that the form does not have stay as they are.
func (p *Pages) saveRule(r *http.Request, a *repo.Access, f page.Form) (*rule.Protection, error) {
	form := &rule.Protection{}
	list, err := p.of.Rules.Protections(r.Context(), a)
	if err != nil {
		return form, err
	}
	pattern := strings.TrimSpace(f.Get("pattern"))
	for _, one := range list {
		if one.Name == pattern {
			form = rule.AsProtection(one)
		}
	}
	form.Pattern, form.Admins, form.Linear = pattern, f.Checked("admins"), f.Checked("linear")
	form.ForcePushes, form.Deletions, form.Locked = f.Checked("force"), f.Checked("deletions"), f.Checked("locked")
	form.Conversations, form.Signatures = f.Checked("conversations"), f.Checked("signatures")
	if f.Checked("pull") {
		reviews := rule.PullRequestRule{}
		if form.Reviews != nil {
			reviews = *form.Reviews
		}
		reviews.DismissStale, reviews.LastPush = f.Checked("stale"), f.Checked("last_push")
		if reviews.Approvals, err = strconv.ParseInt(f.Get("approvals"), 10, 64); err != nil {
			reviews.Approvals = -1 // the operation says that it is wrong
		}
		form.Reviews = &reviews
		if err := p.readReviewActors(r, a, f, form.Reviews); err != nil {
			return form, err
		}
	} else {
		form.Reviews = nil
	}
	var names []string
	for _, line := range strings.Split(f.Get("checks"), "\n") {
		if name := strings.TrimSpace(line); name != "" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		checks := rule.ChecksRule{}
		if form.Checks != nil {
			checks = *form.Checks
		}
		checks.Strict = f.Checked("strict")
		checks.SetContexts(names)
		form.Checks = &checks
	} else {
		form.Checks = nil
	}
	if form.ForcePushers, err = p.readActors(r, a, f, "forcers"); err != nil {
		return form, err
	}
	form.Pushers = rule.Actors{}
	if form.Restricted = f.Checked("restricted"); form.Restricted {
		pushers, err := p.readActors(r, a, f, "pushers")
		if err != nil {
			return form, err
		}
		form.Pushers = *pushers
	}
	ctx, err := p.kit.Write(r, a, account.Admin)
	if err == nil {
		_, err = p.of.Rules.Protect(ctx, a, "", form)
	}
	return form, err
}

// readReviewActors reads who may push without a pull request, and who may dismiss reviews.
func (p *Pages) readReviewActors(r *http.Request, a *repo.Access, f page.Form, to *rule.PullRequestRule) (err error) {
	to.Dismissers = nil
	if to.Exempt, err = p.readActors(r, a, f, "exempt"); err != nil {
		return err
	}
	if to.Exempt.Empty() {
		to.Exempt = nil
	}
	if f.Checked("dismissal") {
		to.Dismissers, err = p.readActors(r, a, f, "dismissers")
	}
	return err
}

// readActors reads users, teams and Apps, a line each. Error: 422 for unknown ones.
func (p *Pages) readActors(r *http.Request, a *repo.Access, f page.Form, field string) (*rule.Actors, error) {
	return p.of.Rules.Resolve(r.Context(), a, field, rule.ParseActors(strings.Fields(f.Get(field))))
}

// removeRule removes a protection, unless somebody else was faster.
func (p *Pages) removeRule(r *http.Request, a *repo.Access, id string) error {
	number, is := web.ParseNumber(id)
	if !is {
		return nil
	}
	ctx, err := p.kit.Delete(r, a, account.Admin)
	if err == nil {
		err = p.of.Rules.RemoveProtection(ctx, a, number)
	}
	if errs.Is(err, errs.NotFound) {
		err = nil
	}
	return err
}
