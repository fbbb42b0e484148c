package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/fulltext"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/posting"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

// labels writes labels. Their names must differ, regardless of case.
func (b *batch) labels(list []*row) error {
	if err := b.assignIDs("labels", newRows(list)); err != nil {
		return err
	}
	return writeLabels(b.tx, b.im.a.ID, list)
}

// milestones writes milestones. Their titles differ.
func (b *batch) milestones(list []*row) error {
	titles, err := milestoneTitles(b.tx, b.im.a.ID)
	if err != nil {
		return err
	}
	for _, r := range list {
		m := r.Record.(*Milestone)
		if n, taken := titles[m.Title]; taken && n != m.Number {
			r.refusal = fmt.Errorf("milestone %d has the same title", n)
			continue
		}
		titles[m.Title] = m.Number
	}
	if err := b.assignIDs("milestones", newRows(list)); err != nil {
		return err
	}
	if err := b.writeMilestones(newRows(list), changedRows(list)); err != nil {
		return err
	}
	return b.resetTextCounts(list)
}

// preparePulls finds out which commits of pull requests are there, and makes branches for heads of open ones that are
// in repositories which are not here.
func (b *batch) preparePulls(ctx context.Context, list []*row) error {
	b.objects, b.branches, b.asIssue = map[git.SHA]bool{}, map[*row]string{}, map[*row]string{}
	var shas []git.SHA
	for _, r := range list {
		if p := r.Record.(*Issue).Pull; p != nil {
			if err := p.check(b.im.about.Name); err != nil {
				b.asIssue[r] = err.Error()
				continue
			}
			shas = append(shas, git.SHA(p.HeadSHA), git.SHA(p.BaseSHA))
		}
	}
	if len(shas) == 0 {
		return nil
	}
	objects, release, err := b.im.s.Repos.GitOf(ctx, b.im.a.ID)
	if err != nil {
		return err
	}
	defer release()
	if objects.Exists() {
		slices.Sort(shas)
		known, err := objects.Known(ctx, slices.Compact(shas))
		if err != nil {
			return err
		}
		for _, o := range known {
			b.objects[o.SHA] = o.Type == git.TypeCommit
		}
	}
	refs, err := b.im.s.Repos.AllRefs(ctx, b.im.a.ID)
	if err != nil {
		return err
	}
	for _, r := range list {
		i := r.Record.(*Issue)
		if i.Pull == nil || b.asIssue[r] != "" {
			continue
		}
		if err := b.preparePull(ctx, r, i, refs); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) preparePull(ctx context.Context, r *row, i *Issue, refs map[string]git.SHA) error {
	p := i.Pull
	switch {
	case !b.objects[git.SHA(p.HeadSHA)]:
		b.asIssue[r] = "its commits are gone: the source has no ref that leads to them"
	case !b.objects[git.SHA(p.BaseSHA)]:
		b.asIssue[r] = "the commit of its base is gone"
	case i.State == "open" && refs[git.Heads+p.Base] == "":
		b.asIssue[r] = fmt.Sprintf("it is open, and its base %q is not there", p.Base)
	case i.State == "open" && !b.im.own(p):
		return b.headBranch(ctx, r, i, refs)
	}
	return nil
}

// own reports whether the head of a pull request is in the repository itself.
func (im *importer) own(p *Pull) bool { return strings.EqualFold(p.HeadRepo, im.about.Name) }

// headBranch makes the branch OWNER/BRANCH for the head of an open pull request from a fork that is not here.
func (b *batch) headBranch(ctx context.Context, r *row, i *Issue, refs map[string]git.SHA) error {
	p := i.Pull
	owner, _, _ := strings.Cut(p.HeadRepo, "/")
	if owner == "" {
		owner = p.HeadOwner
	}
	if owner == "" {
		owner = "unknown"
	}
	for _, name := range [...]string{owner + "/" + p.Head, fmt.Sprintf("pull-%d/%s", i.Number, p.Head)} {
		full := git.Heads + name
		if git.CheckRefName(full) != nil {
			continue
		}
		if refs[full] == git.SHA(p.HeadSHA) {
			b.branches[r] = name
			return nil
		}
		if refs[full] != "" && r.earlierID == 0 {
			continue
		}
		old := refs[full]
		if old == "" {
			old = git.ZeroSHA
		}
		refused, err := b.im.s.Repos.MoveRefs(ctx, repo.Push{RepoID: b.im.a.ID, Purges: b.im.a.Purges, Imported: true,
			Updates: []repo.RefUpdate{{Name: full, Old: old, New: git.SHA(p.HeadSHA)}}})
		if err != nil {
			return err
		}
		if refused[0] == nil {
			refs[full], b.branches[r] = git.SHA(p.HeadSHA), name
			return nil
		}
	}
	b.asIssue[r] = "its head is in another repository, and no branch could be created for it here"
	return nil
}

// issues writes issues and pull requests.
func (b *batch) issues(list []*row) error {
	names, err := b.namesOfIssues()
	if err != nil {
		return err
	}
	numbers, err := issuesNumbered(b.tx, b.im.a.ID, numbersOf(newRows(list)))
	if err != nil {
		return err
	}
	private, err := isPrivate(b.tx, b.im.a.ID)
	if err != nil {
		return err
	}
	for _, r := range list {
		if i := r.Record.(*Issue); i.Private && !private {
			r.refusal = errors.New("it is confidential at the source, and the repository here is public")
		} else if r.earlierID == 0 && numbers[i.Number] != nil {
			r.refusal = errors.New("the number is taken here")
		}
	}
	added := newRows(list)
	if err := b.assignIDs("issues", added); err != nil {
		return err
	}
	pairs, err := openPairs(b.tx, b.im.a.ID)
	if err != nil {
		return err
	}
	texts := map[issue.ID][]issue.Text{}
	all := map[*row]*issue.Issue{}
	for _, r := range list {
		if r.refusal == nil {
			i := b.issueOf(r, names, pairs)
			all[r] = i
			if i.Body != nil {
				texts[i.ID] = []issue.Text{issue.NewText(*i.Body)}
			}
		}
	}
	mentioned, err := b.mentioned(texts)
	if err != nil {
		return err
	}
	if err := b.insertIssues(added, all, mentioned); err != nil {
		return err
	}
	if err := b.updateIssues(changedRows(list), all, mentioned); err != nil {
		return err
	}
	var index []fulltext.Changed
	for _, i := range all {
		index = append(index, fulltext.Changed{Issue: int64(i.ID)})
	}
	return errors.Join(b.indexTexts(index), b.resetTextCounts(list))
}

func numbersOf(list []*row) (numbers []int64) {
	for _, r := range list {
		numbers = append(numbers, r.Record.(*Issue).Number)
	}
	return numbers
}

// names are what issues refer to by name.
type names struct {
	labels     map[string]int64 // by folded name
	milestones map[int64]int64  // by number
}

// issueOf converts the record of an issue to a row of issues.
func (b *batch) issueOf(r *row, n names, pairs map[pair]int64) *issue.Issue {
	i, who, now := r.Record.(*Issue), b.im.people, b.tx.Now
	out := &issue.Issue{ID: issue.ID(r.id), RepoID: b.im.a.ID, Number: i.Number, Title: i.Title,
		Body: b.im.texts.optional(i.Body), AuthorID: who.id(i.Author), State: issue.Open,
		StateReason: issue.ParseReason(i.StateReason), Locked: i.Locked, LockReason: i.LockReason,
		MilestoneID: n.milestones[i.Milestone], CreatedAt: past(i.CreatedAt, now), UpdatedAt: past(i.UpdatedAt, now)}
	if i.State == "closed" {
		out.State, out.ClosedAt, out.ClosedBy = issue.Closed, past(i.ClosedAt, now), who.orNone(i.ClosedBy)
	}
	if !i.PinnedAt.IsZero() && i.Pull == nil {
		out.PinnedAt, out.PinnedBy = past(i.PinnedAt, now), who.orNone(i.PinnedBy)
	}
	for _, name := range i.Labels {
		if id := n.labels[label.Fold(name)]; id == 0 {
			b.note("%s: its label %q is not there", describe(i), name)
		} else if !slices.Contains(out.Labels, id) {
			out.Labels = append(out.Labels, id)
		}
	}
	if i.Milestone != 0 && out.MilestoneID == 0 {
		b.note("%s: its milestone %d is not there", describe(i), i.Milestone)
	}
	for _, login := range i.Assignees {
		if id := who.id(login); login != "" && !slices.Contains(out.Assignees, id) {
			out.Assignees = append(out.Assignees, id)
		}
	}
	b.pullOf(r, out, pairs)
	return out
}

// pullOf completes the row of a pull request, or says why it comes as a closed issue.
func (b *batch) pullOf(r *row, out *issue.Issue, pairs map[pair]int64) {
	i := r.Record.(*Issue)
	p := i.Pull
	if p == nil {
		return
	}
	why := b.asIssue[r]
	if of := b.pairOf(r); why == "" && i.State == "open" {
		if n := pairs[of]; n != 0 && n != i.Number {
			why = fmt.Sprintf("its head and base are those of pull request %d, which is open", n)
		}
		pairs[of] = i.Number
	}
	if why == "" {
		out.Pull, out.Draft, out.StateReason = true, p.Draft, issue.NoReason
		if !p.MergedAt.IsZero() {
			out.MergedAt = past(p.MergedAt, b.tx.Now)
		}
		return
	}
	if out.State == issue.Open {
		out.State, out.ClosedAt = issue.Closed, out.UpdatedAt
	}
	b.note("pull request %d came as a closed issue: %s", i.Number, why)
}

// pair is a base and a head branch. At most one pull request with the same pair may be open.
type pair struct{ base, head string }

// pairOf returns the branches of a pull request here.
func (b *batch) pairOf(r *row) pair {
	p := r.Record.(*Issue).Pull
	if name, ok := b.branches[r]; ok {
		return pair{p.Base, name}
	}
	return pair{p.Base, p.Head}
}

// insertIssues inserts new issues, with their properties, and counts them.
func (b *batch) insertIssues(
	list []*row, all map[*row]*issue.Issue, mentioned map[issue.ID][]account.ID,
) error {
	if len(list) == 0 {
		return nil
	}
	also := map[issue.ID][]posting.Property{}
	rows := make([]*issue.Issue, len(list))
	var open, last int64
	var pulls []*row
	for n, r := range list {
		i, rec := all[r], r.Record.(*Issue)
		rows[n] = i
		also[i.ID] = b.involvedProperties(append([]string{rec.Author}, rec.Assignees...), mentioned[i.ID])
		if last = max(last, i.Number); i.State == issue.Open {
			open++
		}
		if i.Pull {
			pulls = append(pulls, r)
		}
	}
	branches, err := b.branchProperties(pulls)
	if err != nil {
		return err
	}
	for _, r := range pulls {
		also[issue.ID(r.id)] = append(also[issue.ID(r.id)], branches[r]...)
	}
	if err := issue.InsertPast(b.tx, rows, also); err != nil {
		return err
	}
	if err := countIssues(b.tx, b.im.a.ID, open, last); err != nil {
		return err
	}
	return b.insertPulls(pulls, all)
}

// branchProperties returns the properties by which pull requests are found by their branches.
func (b *batch) branchProperties(pulls []*row) (map[*row][]posting.Property, error) {
	var names []pull.Branch
	for _, r := range pulls {
		names = append(names, pull.Branch{Name: b.pairOf(r).base}, b.headOf(r))
	}
	ids, err := pull.BranchProperties(b.tx, b.im.a.ID, names)
	out := map[*row][]posting.Property{}
	for _, r := range pulls {
		out[r] = []posting.Property{ids[pull.Branch{Name: b.pairOf(r).base}], ids[b.headOf(r)]}
	}
	return out, err
}

// headOf returns the head branch of a pull request here.
func (b *batch) headOf(r *row) pull.Branch {
	p := r.Record.(*Issue).Pull
	if _, made := b.branches[r]; made || b.im.own(p) {
		return pull.Branch{Owner: b.im.a.OwnerID, Name: b.pairOf(r).head}
	}
	return pull.Branch{Owner: b.im.people.id(p.HeadOwner), Name: p.Head}
}

// updateIssues writes issues that have changed at the source.
func (b *batch) updateIssues(
	list []*row, all map[*row]*issue.Issue, mentioned map[issue.ID][]account.ID,
) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]issue.ID, len(list))
	for n, r := range list {
		ids[n] = issue.ID(r.id)
	}
	were, err := issue.ByIDs(b.tx, ids)
	if err != nil {
		return err
	}
	by := map[issue.ID]*issue.Issue{}
	for _, i := range were {
		by[i.ID] = i
	}
	mayRead, err := b.readers(list)
	if err != nil {
		return err
	}
	for _, r := range list {
		before, after, rec := by[issue.ID(r.id)], all[r], r.Record.(*Issue)
		if before == nil {
			r.refusal = errors.New("it was deleted here")
			continue
		}
		if before.Pull != after.Pull {
			after.Pull = before.Pull // what it became when it first came
		}
		after.Comments, after.Reacted = before.Comments, before.Reacted
		also := b.involvedProperties(append([]string{rec.Author}, rec.Assignees...), mentioned[after.ID])
		if err := issue.UpdatePast(b.tx, before, after, also); err != nil {
			return err
		}
		if after.Pull && rec.Pull != nil {
			if err := b.updatePull(r, after, mayRead); err != nil {
				return err
			}
		}
	}
	return nil
}
