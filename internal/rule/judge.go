package rule

import (
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// maxMatches is how many patterns are compared in a transaction. What takes more is found by Prepare.
const maxMatches = 1000

// Judge notes in refused why rules refuse updates of refs. It is called in the transaction that moves the refs,
// with the repository's row locked, and records what the rules said. Error: repo.ErrUnprepared if Prepare has to
// find what the commits violate.
func (s *Service) Judge(tx *db.Tx, p *repo.Push, refused []error) error {
	book, err := readRulebook(tx, p.RepoID)
	if err != nil || len(book.sets) == 0 {
		return err
	}
	j := &judgement{s: s, tx: tx, push: p, book: book}
	if err := j.collect(refused); err != nil || len(j.cases) == 0 {
		return err
	}
	if err := j.load(); err != nil {
		return err
	}
	for _, c := range j.cases {
		if refused[c.index], err = j.decide(c); err != nil {
			return err
		}
	}
	return recordSuites(tx, j)
}

// judgement is the work of Judge.
type judgement struct {
	s    *Service
	tx   *db.Tx
	push *repo.Push
	book *rulebook

	cases  []*matter
	states map[checkedCommit]map[string][]checkState // by context
	merges []*needs                                  // of the pull requests that are merged
	bypass bypassers
}

// matter is the update of a ref to which rulesets apply.
type matter struct {
	index    int
	update   *repo.RefUpdate
	sets     []*Ruleset
	findings map[finding]string // what commits violate
	commit   git.SHA            // the new commit; empty: deleted

	result, evaluated Result
	evaluations       []evaluation
}

// finding identifies a rule.
type finding struct {
	set  int64
	rule int
}

// evaluation is what one rule says about an update.
type evaluation struct {
	Set     *Ruleset
	Kind    Kind
	Problem string // empty: it is satisfied
}

// collect finds the rulesets of each update that is not refused yet.
func (j *judgement) collect(refused []error) error {
	prepared := true
	for i := range j.push.Updates {
		f := j.push.Updates[i].Findings
		prepared = prepared && (refused[i] != nil || f != nil && f.State == j.book.state)
	}
	if !prepared && j.book.matches(len(refused)) > maxMatches {
		return repo.ErrUnprepared
	}
	byID := map[int64]*Ruleset{}
	for _, r := range j.book.sets {
		byID[r.ID] = r
	}
	for i := range j.push.Updates {
		u := &j.push.Updates[i]
		if refused[i] != nil || u.Old == u.New || j.push.Queue && repo.IsQueueRef(u.Name) {
			continue
		}
		c := &matter{index: i, update: u, findings: map[finding]string{}}
		if u.New != git.ZeroSHA {
			if c.commit = u.New; u.Peeled != "" {
				c.commit = u.Peeled
			}
		}
		if prepared {
			for _, id := range u.Findings.Rulesets {
				c.sets = append(c.sets, byID[id])
			}
			for _, f := range u.Findings.Broken {
				c.findings[finding{f.Ruleset, f.Rule}] = f.Problem
			}
		} else {
			c.sets = j.book.on(u.Name)
			if j.book.needCommits(j.push, u, c.sets) {
				return repo.ErrUnprepared
			}
		}
		if len(c.sets) > 0 {
			j.cases = append(j.cases, c)
		}
	}
	return nil
}

// load reads statuses of the commits and the reviews of the pull request, as far as rules need them.
func (j *judgement) load() (err error) {
	var commits []git.SHA
	reviewed, owned := false, []repo.Owned(nil)
	for _, c := range j.cases {
		for _, r := range c.sets {
			if r.Find(Checks) != nil && c.commit != "" {
				commits = append(commits, j.checked(c))
			}
			reviewed = reviewed || r.Find(PullRequest) != nil || r.Find(Conversations) != nil
		}
		if c.update.Findings != nil {
			owned = append(owned, c.update.Findings.Owned...)
		}
	}
	if len(commits) > 0 {
		slices.Sort(commits)
		if j.states, err = readChecks(j.tx, []repo.ID{j.push.RepoID}, slices.Compact(commits)); err != nil {
			return err
		}
	}
	if reviewed && j.push.Merge != nil {
		if j.merges, err = readNeeds(j.tx, j.push.Merge); err != nil {
			return err
		}
	}
	for n, of := range j.merges {
		files := slices.DeleteFunc(slices.Clone(owned), func(o repo.Owned) bool { return o.Merge != n })
		if len(files) == 0 {
			continue
		}
		if err := of.askOwners(j.tx, j.push.RepoID, files); err != nil {
			return err
		}
	}
	return nil
}

// checked returns the commit whose statuses count: of a pull request its head, of a merge queue the new commit.
func (j *judgement) checked(c *matter) git.SHA {
	if m := j.push.Merge; m != nil && !m.ByQueue() {
		return j.push.Merge.Head
	}
	return c.commit
}

// decide asks all rules about an update. It returns the reason why it is refused, or nil.
func (j *judgement) decide(c *matter) (refusal, err error) {
	var problems []string
	c.result, c.evaluated = Pass, 0
	for _, r := range c.sets {
		own, asked := len(problems), len(c.evaluations)
		for n := range r.Rules {
			if !concerns(&r.Rules[n], j.push, c.update) {
				continue
			}
			problem := j.ask(c, r, n)
			c.evaluations = append(c.evaluations, evaluation{r, r.Rules[n].Kind, problem})
			if problem != "" {
				problems = append(problems, problem)
			}
		}
		switch {
		case len(c.evaluations) == asked:
		case r.Enforcement == Evaluated:
			c.evaluated = max(c.evaluated, Pass)
			if len(problems) > own {
				c.evaluated, problems = Fail, problems[:own]
			}
		case len(problems) > own:
			may, err := j.mayBypass(r, c.update)
			if err != nil {
				return nil, err
			}
			if may {
				c.result, problems = Bypass, problems[:own]
			}
		}
	}
	if len(problems) == 0 {
		return nil, nil
	}
	c.result = Fail
	return repo.NewRuleError(c.update.Name, problems), nil
}

// concerns reports whether a rule is about the kind of update.
func concerns(rule *Rule, p *repo.Push, u *repo.RefUpdate) bool {
	created, deleted := u.Old == git.ZeroSHA, u.New == git.ZeroSHA
	switch rule.Kind {
	case Creation, BranchName, TagName:
		return created
	case Deletion:
		return deleted
	case Update, NonFastForward:
		return !created && !deleted
	case Conversations:
		return p.Merge != nil && !deleted
	case ForcePushers: // NonFastForward asks for them
		return false
	case Pushers:
		return !deleted && (!created || rule.Parameters.(*PushersRule).BlocksCreation)
	case Checks:
		return !deleted && !(created && rule.Parameters.(*ChecksRule).NotOnCreation)
	}
	return !deleted
}

// ask returns what a rule has against an update, or "".
func (j *judgement) ask(c *matter, set *Ruleset, n int) string {
	rule, u := &set.Rules[n], c.update
	switch p := rule.Parameters.(type) {
	case *UpdateRule:
		if p.FetchAndMerge && j.push.Upstream {
			return ""
		}
		return "Cannot update this protected ref."
	case *PullRequestRule:
		if j.push.Merge != nil {
			return join(j.lacking(func(of *needs) string { return of.problems(p, j.push.Merge) }),
				c.findings[finding{set.ID, n}])
		}
		if !u.DeployKey && p.Exempt.has(j.person(u)) {
			return ""
		}
		if u.Old == git.ZeroSHA {
			return c.findings[finding{set.ID, n}]
		}
		return "Changes must be made through a pull request."
	case *ChecksRule:
		return join(p.problems(j.states[checkedCommit{j.push.RepoID, j.checked(c)}]), c.findings[finding{set.ID, n}])
	case *QueueRule:
		if u.Old == git.ZeroSHA {
			return c.findings[finding{set.ID, n}]
		}
		if m := j.push.Merge; m != nil && m.ByQueue() {
			return ""
		}
		return "Changes must be made through the merge queue."
	case *PushersRule:
		if !u.DeployKey && j.all(u, p.has) {
			return ""
		}
		return "You are not authorized to push to this branch."
	case *PatternRule:
		if rule.Kind == BranchName || rule.Kind == TagName {
			return nameProblem(rule.Kind, p, u.Name)
		}
	}
	switch rule.Kind {
	case Creation:
		return "Cannot create this ref."
	case Deletion:
		return "Cannot delete this protected ref."
	case Conversations:
		return j.lacking((*needs).conversations)
	case NonFastForward:
		if u.Forward || !u.DeployKey && set.forcePushers().has(j.person(u)) {
			return ""
		}
	}
	return c.findings[finding{set.ID, n}]
}

// forcePushers are those who may force-push although others may not, or nil.
func (r *Ruleset) forcePushers() *Actors {
	if p, is := r.Find(ForcePushers).parameters().(*ForcePushersRule); is {
		return &p.Actors
	}
	return nil
}

// lacking returns what one of the merged pull requests lacks, or "".
func (j *judgement) lacking(of func(*needs) string) string {
	for _, n := range j.merges {
		if problem := of(n); problem != "" {
			return problem
		}
	}
	return ""
}

func nameProblem(k Kind, p *PatternRule, ref string) string {
	name, ok := strings.CutPrefix(ref, git.Heads)
	what := "branch"
	if k == TagName {
		name, ok = strings.CutPrefix(ref, git.Tags)
		what = "tag"
	}
	if !ok || p.matcher()(name) {
		return ""
	}
	return "The name of the " + what + " " + p.wants() + "."
}

func join(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, " ")
}
