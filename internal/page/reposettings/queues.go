package reposettings

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/web"
)

// queueForm is the rule of a merge queue, with its ruleset, as the page shows it.
type queueForm struct {
	ID       int64  // of the ruleset; 0: a new one
	Name     string // of the ruleset
	Branches string // a line each
	*rule.QueueRule
	Typed map[string]string // what was sent for a number, by the names of parameters; nil: nothing was
}

// queueField is a field of a form with a number.
type queueField struct {
	Name, Label, Value string
	Min, Max           int64
}

// Numbers returns the fields with numbers.
func (q queueForm) Numbers() (list []queueField) {
	for _, n := range q.QueueRule.Numbers() {
		value, is := q.Typed[n.Name]
		if !is {
			value = strconv.FormatInt(*n.Value, 10)
		}
		list = append(list, queueField{n.Name, queueLabels[n.Name], value, n.Min, n.Max})
	}
	return list
}

var queueLabels = map[string]string{
	"max_entries_to_build":              "Merge groups to build at one time",
	"max_entries_to_merge":              "Pull requests to merge together, at most",
	"min_entries_to_merge":              "Pull requests to merge together, at least",
	"min_entries_to_merge_wait_minutes": "Minutes to wait for so many",
	"check_response_timeout_minutes":    "Minutes after which checks count as failed",
}

// MethodChoice returns the field of the merge method.
func (q queueForm) MethodChoice() page.Choice {
	return page.Choice{Name: "merge_method", Label: "Merge by", Chosen: q.Method, Options: [][2]string{
		{"MERGE", "a merge commit"}, {"SQUASH", "squashing"}, {"REBASE", "rebasing"}}}
}

// GroupingChoice returns the field that says which groups need their checks.
func (q queueForm) GroupingChoice() page.Choice {
	return page.Choice{Name: "grouping_strategy", Label: "Checks must succeed for", Chosen: q.Grouping,
		Options: [][2]string{
			{rule.AllGreen, "each merge group"}, {rule.HeadGreen, "the last one of those that are merged together"}}}
}

func newQueueForm(set *rule.Ruleset) queueForm {
	q := queueForm{ID: set.ID, Name: set.Name, QueueRule: queueRuleOf(set)}
	lines := make([]string, len(set.Refs.Include))
	for n, ref := range set.Refs.Include {
		lines[n] = strings.TrimPrefix(ref, git.Heads)
	}
	q.Branches = strings.Join(lines, "\n")
	return q
}

// queueRuleOf returns the rule of a merge queue of a ruleset, or nil.
func queueRuleOf(set *rule.Ruleset) *rule.QueueRule {
	if r := set.Find(rule.MergeQueue); r != nil {
		return r.Parameters.(*rule.QueueRule)
	}
	return nil
}

// readQueue reads a form.
func readQueue(f page.Form) *queueForm {
	q := &queueForm{Name: f.Text("name"), Branches: f.Get("branches"), QueueRule: rule.NewQueueRule(),
		Typed: map[string]string{}}
	q.ID, _ = web.ParseNumber(f.Get("id"))
	q.Method, q.Grouping = f.Get("merge_method"), f.Get("grouping_strategy")
	for _, n := range q.QueueRule.Numbers() {
		var err error
		q.Typed[n.Name] = f.Get(n.Name)
		if *n.Value, err = strconv.ParseInt(f.Text(n.Name), 10, 64); err != nil {
			*n.Value = -1 // the operation says that it is wrong
		}
	}
	return q
}

// refs returns the refs that the form names.
func (q *queueForm) refs() (list []string) {
	for _, line := range strings.Split(q.Branches, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "~") {
			line = git.Heads + strings.TrimPrefix(line, git.Heads)
		}
		if line != "" {
			list = append(list, line)
		}
	}
	return list
}

// saveQueue stores what the form says, in a new ruleset or in the one of its id. Other rules of that stay as they are.
func (p *Pages) saveQueue(r *http.Request, a *repo.Access, q *queueForm) error {
	refs := q.refs()
	var wrong []errs.Field
	if len(refs) == 0 {
		wrong = append(wrong, errs.Field{Field: "branches", Message: "Name at least one branch."})
	}
	for _, problem := range q.Problems() {
		label := cmp.Or(queueLabels[problem.Name], problem.Name)
		wrong = append(wrong, errs.Field{Field: problem.Name, Message: label + ": " + problem.Text})
	}
	if len(wrong) > 0 {
		return errs.Validation(wrong...)
	}
	ctx, err := p.kit.Write(r, a, account.Admin)
	if err != nil {
		return err
	}
	entry := rule.Rule{Kind: rule.MergeQueue, Parameters: q.QueueRule}
	if q.ID == 0 {
		return p.of.Rules.Create(ctx, rule.OfRepository(a), &rule.Ruleset{Name: q.Name, Target: rule.Branches,
			Enforcement: rule.Active, Body: rule.Body{Refs: rule.Names{Include: refs, Exclude: []string{}},
				Rules:  []rule.Rule{entry},
				Bypass: []rule.Actor{}}})
	}
	_, err = p.of.Rules.Edit(ctx, rule.OfRepository(a), q.ID, func(set *rule.Ruleset) error {
		if queueRuleOf(set) == nil {
			return errs.New(errs.Conflict, "The ruleset has no merge queue any more.")
		}
		set.Name, set.Refs.Include = q.Name, refs
		set.Rules = slices.Clone(set.Rules)
		for n := range set.Rules {
			if set.Rules[n].Kind == rule.MergeQueue {
				set.Rules[n] = entry
			}
		}
		return nil
	})
	if errs.Is(err, errs.NotFound) {
		err = errs.New(errs.Conflict, "The ruleset was removed meanwhile.")
	}
	return err
}

// inQueueForm returns an operation's error with its fields named as in the form.
func inQueueForm(err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Fields = slices.Clone(e.Fields)
	for n := range named.Fields {
		if named.Fields[n].Field == "conditions" {
			named.Fields[n].Field = "branches"
		}
	}
	return &named
}

// removeQueue removes the merge queue from a ruleset, with the ruleset if it has no other rule, unless somebody else
// was faster.
func (p *Pages) removeQueue(r *http.Request, a *repo.Access, id string) error {
	number, is := web.ParseNumber(id)
	if !is {
		return nil
	}
	ctx, err := p.kit.Delete(r, a, account.Admin)
	if err != nil {
		return err
	}
	of := rule.OfRepository(a)
	set, err := p.of.Rules.Get(ctx, of, number)
	if err == nil && queueRuleOf(set) != nil && len(set.Rules) == 1 {
		err = p.of.Rules.Delete(ctx, of, number)
	} else if err == nil {
		_, err = p.of.Rules.Edit(ctx, of, number, func(set *rule.Ruleset) error {
			set.Rules = slices.DeleteFunc(slices.Clone(set.Rules),
				func(r rule.Rule) bool { return r.Kind == rule.MergeQueue })
			return nil
		})
	}
	if errs.Is(err, errs.NotFound) {
		err = nil
	}
	return err
}
