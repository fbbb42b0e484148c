package migration

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/reaction"
	"arbor/internal/review"
)

// query is the statement for the records of a kind. Names of accounts come with the rows, so it is one statement
// whatever the number of rows.
type query struct {
	sql  string
	args []any
	read func(row db.Scanner) (Record, error)
}

// load reads what records name by other things than ids: labels, milestones, assignees, and the refs.
func (e *exporter) load() (err error) {
	id := e.a.ID
	if e.labels, err = db.QueryMap[int64, string](e.tx, `SELECT id, name FROM labels WHERE repo_id = $1`, id); err != nil {
		return err
	}
	if e.milestones, err = db.QueryMap[int64, int64](e.tx, `SELECT id, number FROM milestones WHERE repo_id = $1`,
		id); err != nil {
		return err
	}
	if e.accounts, err = db.QueryMap[account.ID, string](e.tx, `SELECT a.id, a.login FROM accounts a WHERE a.id IN
		(SELECT c.value FROM posting_counts c WHERE c.repo_id = $1 AND c.kind = $2)`, id,
		int64(posting.ByAssignee)); err != nil {
		return err
	}
	if e.teams, err = db.QueryMap[int64, string](e.tx, `SELECT id, name FROM teams WHERE org_id = $1`,
		e.a.OwnerID); err != nil {
		return err
	}
	if e.actors, err = e.actorsOf(); err != nil {
		return err
	}
	e.asked = map[int64][]string{}
	if err = db.QueryEach(e.tx, func(row db.Scanner) error {
		var number int64
		var login string
		err := row.Scan(&number, &login)
		e.asked[number] = append(e.asked[number], login)
		return err
	}, `SELECT p.number, a.login FROM pulls p JOIN requested_reviewers r ON r.issue_id = p.issue_id
		JOIN accounts a ON a.id = r.user_id WHERE p.repo_id = $1 ORDER BY p.number, a.id`, id); err != nil {
		return err
	}
	e.refs, err = db.QueryList(e.tx, func(row db.Scanner) (r git.Ref, err error) {
		var sha string
		err = row.Scan(&r.Name, &sha)
		r.SHA = git.SHA(sha)
		return r, err
	}, `SELECT name, sha FROM refs WHERE repo_id = $1 AND name NOT LIKE 'refs/pull/%/merge' ORDER BY name`, id)
	return err
}

// repository reads the row of the repository.
func (e *exporter) repository() (*Repository, error) {
	a := e.a
	r := &Repository{Format: Format, Source: e.o.Address + "/" + a.FullName(), ExportedAt: at(e.tx.Now),
		Name: a.FullName(), Private: a.Private, DefaultBranch: a.DefaultBranch, Topics: a.Topics.Names(),
		NoIssues: !a.HasIssues, Merging: a.Merging.Payload(), Template: a.IsTemplate, Archived: a.Archived,
		CreatedAt: at(a.CreatedAt), PushedAt: at(a.PushedAt)}
	if a.Description != nil {
		r.Description = *a.Description
	}
	if a.Homepage != nil {
		r.Homepage = *a.Homepage
	}
	err := e.tx.QueryRow(`SELECT next_number FROM repos WHERE id = $1`, a.ID).Scan(&r.NextNumber)
	e.named(&a.Owner.Login)
	return r, err
}

// query returns the statement for the records of a kind.
func (e *exporter) query(k Kind) query {
	of := map[Kind]func() (string, func(db.Scanner) (Record, error)){
		Labels: e.readLabels, Milestones: e.readMilestones, Issues: e.readIssues,
		Comments: e.readComments, Reviews: e.readReviews, ReviewComments: e.readReviewComments,
		CommitComments: e.readCommitComments, Threads: e.readThreads, Reactions: e.readReactions,
		Events: e.readEvents, Releases: e.readReleases, Assets: e.readAssets, LFSObjects: e.readLFS,
		Attachments: e.readAttachments, Rulesets: e.readRulesets, Hooks: e.readHooks,
	}[k]
	sql, read := of()
	return query{sql, []any{e.a.ID}, read}
}

func (e *exporter) readLabels() (string, func(db.Scanner) (Record, error)) {
	return `SELECT name, color, description, is_default FROM labels WHERE repo_id = $1 ORDER BY id`,
		func(row db.Scanner) (Record, error) {
			var l Label
			return &l, row.Scan(&l.Name, &l.Color, &l.Description, &l.Default)
		}
}

func (e *exporter) readMilestones() (string, func(db.Scanner) (Record, error)) {
	return `SELECT m.number, m.title, m.description, m.state, a.login, m.created_at, m.updated_at, m.due_on, m.closed_at
		FROM milestones m LEFT JOIN accounts a ON a.id = m.creator_id WHERE m.repo_id = $1 ORDER BY m.number`,
		func(row db.Scanner) (Record, error) {
			var m Milestone
			var state int64
			var creator *string
			var made, changed, due, closed db.Time
			err := row.Scan(&m.Number, &m.Title, &m.Description, &state, &creator, &made, &changed, &due, &closed)
			m.State, m.Creator = issuekit.State(state).String(), e.named(creator)
			m.CreatedAt, m.UpdatedAt, m.DueOn, m.ClosedAt = at(made), at(changed), at(due), at(closed)
			return &m, err
		}
}

func (e *exporter) readIssues() (string, func(db.Scanner) (Record, error)) {
	return `SELECT i.number, i.pull, i.title, i.body, a.login, i.state, i.state_reason, i.locked, i.lock_reason,
			COALESCE(i.milestone_id, 0), i.labels, i.assignees, i.created_at, i.updated_at, i.closed_at, c.login,
			i.pinned_at, n.login, i.draft, i.merged_at,
			p.base_ref, p.base_sha, p.head_ref, p.head_sha, o.login, ho.login, h.name, p.modifiable, m.login,
			p.merge_sha, p.additions, p.deletions, p.changed_files, p.commits
		FROM issues i LEFT JOIN accounts a ON a.id = i.author_id LEFT JOIN accounts c ON c.id = i.closed_by
		LEFT JOIN accounts n ON n.id = i.pinned_by LEFT JOIN pulls p ON p.issue_id = i.id
		LEFT JOIN accounts o ON o.id = p.head_owner_id LEFT JOIN repos h ON h.id = p.head_repo_id
		LEFT JOIN accounts ho ON ho.id = h.owner_id LEFT JOIN accounts m ON m.id = p.merged_by
		WHERE i.repo_id = $1 ORDER BY i.number`, e.readIssue
}

func (e *exporter) readIssue(row db.Scanner) (Record, error) {
	var i Issue
	var pull, draft bool
	var state, reason, milestone int64
	var labels, assignees string
	var author, closer, pinner *string
	var made, changed, closed, pinned, merged db.Time
	var base, baseSHA, head, headSHA, owner, repoOwner, repoName, merger, mergeSHA *string
	var modifiable *bool
	var counts [4]*int64
	err := row.Scan(&i.Number, &pull, &i.Title, &i.Body, &author, &state, &reason, &i.Locked, &i.LockReason,
		&milestone, &labels, &assignees, &made, &changed, &closed, &closer, &pinned, &pinner, &draft, &merged,
		&base, &baseSHA, &head, &headSHA, &owner, &repoOwner, &repoName, &modifiable, &merger, &mergeSHA,
		&counts[0], &counts[1], &counts[2], &counts[3])
	if err != nil {
		return nil, err
	}
	i.Author, i.ClosedBy, i.PinnedBy = e.named(author), e.named(closer), e.named(pinner)
	i.State, i.StateReason = issuekit.State(state).String(), issue.Reason(reason).String()
	i.Milestone = e.milestones[milestone]
	for _, id := range ids(labels) {
		if name, ok := e.labels[id]; ok {
			i.Labels = append(i.Labels, name)
		}
	}
	for _, id := range ids(assignees) {
		if login, ok := e.accounts[account.ID(id)]; ok {
			i.Assignees = append(i.Assignees, e.named(&login))
		}
	}
	i.CreatedAt, i.UpdatedAt, i.ClosedAt, i.PinnedAt = at(made), at(changed), at(closed), at(pinned)
	if !pull || base == nil {
		return &i, nil
	}
	i.Pull = &Pull{Base: *base, BaseSHA: *baseSHA, Head: *head, HeadSHA: *headSHA, HeadOwner: e.named(owner),
		Draft: draft, Modifiable: *modifiable, MergedAt: at(merged), MergedBy: e.named(merger),
		Additions: *counts[0], Deletions: *counts[1], Files: *counts[2], Commits: *counts[3]}
	if repoOwner != nil {
		i.Pull.HeadRepo = *repoOwner + "/" + *repoName
	}
	if mergeSHA != nil {
		i.Pull.MergeSHA = *mergeSHA
	}
	for _, login := range e.asked[i.Number] {
		i.Pull.Reviewers = append(i.Pull.Reviewers, e.named(&login))
	}
	return &i, nil
}

// ids parses a column of ids.
func ids(column string) (list []int64) {
	for part := range strings.SplitSeq(column, ",") {
		if id, err := strconv.ParseInt(part, 10, 64); err == nil {
			list = append(list, id)
		}
	}
	return list
}

func (e *exporter) readComments() (string, func(db.Scanner) (Record, error)) {
	return `SELECT c.id, i.number, a.login, c.body, c.created_at, c.updated_at, c.pinned_at, n.login, COALESCE(c.hidden, 0),
			c.by_mail FROM issue_comments c JOIN issues i ON i.id = c.issue_id LEFT JOIN accounts a ON a.id = c.author_id
		LEFT JOIN accounts n ON n.id = c.pinned_by WHERE c.repo_id = $1 ORDER BY c.id`,
		func(row db.Scanner) (Record, error) {
			var c Comment
			var author, pinner *string
			var made, changed, pinned db.Time
			var hidden issuekit.Hidden
			err := row.Scan(&c.ID, &c.Issue, &author, &c.Body, &made, &changed, &pinned, &pinner, &hidden, &c.ByMail)
			c.Author, c.PinnedBy, c.Hidden = e.named(author), e.named(pinner), hidden.String()
			c.CreatedAt, c.UpdatedAt, c.PinnedAt = at(made), at(changed), at(pinned)
			return &c, err
		}
}

func (e *exporter) readReviews() (string, func(db.Scanner) (Record, error)) {
	return `SELECT r.id, i.number, a.login, r.state, r.body, r.commit_sha, r.submitted_at, COALESCE(r.hidden, 0)
		FROM reviews r JOIN issues i ON i.id = r.issue_id LEFT JOIN accounts a ON a.id = r.author_id
		WHERE r.repo_id = $1 AND r.state <> 1 ORDER BY r.id`,
		func(row db.Scanner) (Record, error) {
			var r Review
			var author *string
			var state review.State
			var submitted db.Time
			var hidden issuekit.Hidden
			err := row.Scan(&r.ID, &r.Pull, &author, &state, &r.Body, &r.Commit, &submitted, &hidden)
			r.Author, r.State, r.Hidden = e.named(author), strings.ToLower(state.String()), hidden.String()
			r.SubmittedAt = at(submitted)
			return &r, err
		}
}

func (e *exporter) readReviewComments() (string, func(db.Scanner) (Record, error)) {
	return `SELECT c.id, i.number, c.review_id, COALESCE(CAST(c.reply_to AS TEXT), ''), a.login, c.body, c.path, c.whole,
			c.side, COALESCE(c.start_side, 0), c.diff_hunk, c.original_sha, c.original_position,
			COALESCE(c.original_line, 0), COALESCE(c.original_start, 0), c.current_sha, COALESCE(c.current_position, 0),
			COALESCE(c.current_line, 0), COALESCE(c.current_start, 0), c.created_at, c.updated_at, COALESCE(c.hidden, 0)
		FROM review_comments c JOIN issues i ON i.id = c.issue_id LEFT JOIN accounts a ON a.id = c.author_id
		WHERE c.repo_id = $1 AND c.pending = FALSE ORDER BY c.id`,
		func(row db.Scanner) (Record, error) {
			var c ReviewComment
			var author *string
			var side, start int64
			var made, changed db.Time
			var hidden issuekit.Hidden
			err := row.Scan(&c.ID, &c.Pull, &c.Review, &c.ReplyTo, &author, &c.Body, &c.Path, &c.File, &side, &start,
				&c.DiffHunk, &c.Original.Commit, &c.Original.Position, &c.Original.Line, &c.Original.Start,
				&c.Current.Commit, &c.Current.Position, &c.Current.Line, &c.Current.Start, &made, &changed, &hidden)
			c.Author, c.Side, c.StartSide, c.Hidden = e.named(author), sides[side], sides[start], hidden.String()
			c.CreatedAt, c.UpdatedAt = at(made), at(changed)
			return &c, err
		}
}

// sides are the names of the sides of a change, as they are stored.
var sides = [...]string{"", "LEFT", "RIGHT"}

func (e *exporter) readCommitComments() (string, func(db.Scanner) (Record, error)) {
	return `SELECT c.id, c.commit_sha, a.login, c.body, c.path, COALESCE(c.position, 0), COALESCE(c.line, 0), c.created_at,
			c.updated_at, COALESCE(c.hidden, 0) FROM commit_comments c LEFT JOIN accounts a ON a.id = c.author_id
		WHERE c.repo_id = $1 ORDER BY c.id`,
		func(row db.Scanner) (Record, error) {
			var c CommitComment
			var author *string
			var made, changed db.Time
			var hidden issuekit.Hidden
			err := row.Scan(&c.ID, &c.Commit, &author, &c.Body, &c.Path, &c.Position, &c.Line, &made, &changed, &hidden)
			c.Author, c.Hidden, c.CreatedAt, c.UpdatedAt = e.named(author), hidden.String(), at(made), at(changed)
			return &c, err
		}
}

func (e *exporter) readThreads() (string, func(db.Scanner) (Record, error)) {
	return `SELECT t.root_id, i.number, a.login, t.resolved_at FROM resolved_threads t JOIN issues i ON i.id = t.issue_id
		JOIN review_comments c ON c.id = t.root_id LEFT JOIN accounts a ON a.id = t.resolved_by
		WHERE i.repo_id = $1 AND c.pending = FALSE ORDER BY t.root_id`,
		func(row db.Scanner) (Record, error) {
			var t Thread
			var by *string
			var when db.Time
			err := row.Scan(&t.Comment, &t.Pull, &by, &when)
			t.ResolvedBy, t.ResolvedAt = e.named(by), at(when)
			return &t, err
		}
}

// subjects are the kinds of what reactions are to, as they are stored.
var subjects = [...]Kind{"", Issues, Comments, ReviewComments, CommitComments, Releases}

func (e *exporter) readReactions() (string, func(db.Scanner) (Record, error)) {
	return `SELECT r.subject_kind, COALESCE(CAST(i.number AS TEXT), CAST(r.subject_id AS TEXT)), a.login, r.content,
			r.created_at FROM reactions r LEFT JOIN issues i ON r.subject_kind = 1 AND i.id = r.subject_id
		LEFT JOIN review_comments l ON r.subject_kind = 3 AND l.id = r.subject_id
		LEFT JOIN releases d ON r.subject_kind = 5 AND d.id = r.subject_id
		JOIN accounts a ON a.id = r.user_id
		WHERE r.repo_id = $1 AND COALESCE(l.pending, FALSE) = FALSE AND d.deleted_at IS NULL ORDER BY r.id`,
		func(row db.Scanner) (Record, error) {
			var r Reaction
			var subject int64
			var login *string
			var content reaction.Content
			var made db.Time
			err := row.Scan(&subject, &r.To, &login, &content, &made)
			r.Kind, r.Person, r.Content, r.CreatedAt = subjects[subject], e.named(login), content.String(), at(made)
			return &r, err
		}
}

// readEvents leaves out references from other repositories, which are not in this export.
func (e *exporter) readEvents() (string, func(db.Scanner) (Record, error)) {
	return `SELECT e.id, i.number, e.kind, a.login, u.login, COALESCE(e.commit_sha, ''), COALESCE(s.number, 0),
			COALESCE(CAST(e.comment_id AS TEXT), ''), e.detail, e.created_at
		FROM issue_events e JOIN issues i ON i.id = e.issue_id LEFT JOIN accounts a ON a.id = e.actor_id
		LEFT JOIN accounts u ON u.id = e.user_id LEFT JOIN issues s ON s.id = e.source_id AND s.repo_id = e.repo_id
		WHERE e.repo_id = $1 AND (e.source_id IS NULL OR s.id IS NOT NULL) ORDER BY e.id`, e.readEvent
}

func (e *exporter) readEvent(row db.Scanner) (Record, error) {
	var v Event
	var kind issue.EventKind
	var actor, user, detail *string
	var made db.Time
	err := row.Scan(&v.ID, &v.Issue, &kind, &actor, &user, &v.Commit, &v.Source, &v.SourceComment, &detail, &made)
	if err != nil {
		return nil, err
	}
	var d issue.Detail
	if err := d.Decode(detail); err != nil {
		return nil, err
	}
	v.Event, v.Actor, v.Person, v.CreatedAt = kind.String(), e.named(actor), e.named(user), at(made)
	v.Milestone, v.LockReason, v.StateReason, v.Reason = d.Milestone, d.LockReason, d.StateReason, d.Reason
	if d.Label != nil {
		v.Label, err = json.Marshal(d.Label)
	}
	if d.Rename != nil && err == nil {
		v.Rename, err = json.Marshal(d.Rename)
	}
	if d.Review != nil {
		v.Review, v.ReviewState, v.Message = strconv.FormatInt(d.Review.ID, 10), d.Review.State, d.Review.Message
	}
	if d.Review != nil {
		v.Commit = d.Review.Commit
	}
	if d.Team != 0 {
		v.Team = cmp.Or(e.teams[int64(d.Team)], "deleted")
	}
	return &v, err
}

// eachPerson reads those whom records have named, with their verified addresses.
func (e *exporter) eachPerson(fn func(*Person) error) error {
	return db.InParts(slices.Sorted(maps.Keys(e.people)), func(part []string) error {
		folded := make([]any, len(part))
		for n, login := range part {
			folded[n] = account.Fold(login)
		}
		in := ` WHERE a.login_folded IN ` + db.Values(1, len(part)) + ` ORDER BY a.id`
		people := map[account.ID]*Person{}
		var order []account.ID
		err := db.QueryEach(e.tx, func(row db.Scanner) error {
			var id account.ID
			var kind account.Kind
			p := &Person{}
			err := row.Scan(&id, &p.Login, &p.Name, &kind, &p.Host)
			p.Type = kind.String()
			people[id], order = p, append(order, id)
			return err
		}, `SELECT a.id, a.login, COALESCE(a.name, ''), a.kind, COALESCE(m.host, '') FROM accounts a
			LEFT JOIN mannequins m ON m.account_id = a.id AND a.kind = 4`+in, folded...)
		if err != nil {
			return err
		}
		err = db.QueryEach(e.tx, func(row db.Scanner) error {
			var id account.ID
			var address string
			err := row.Scan(&id, &address)
			people[id].Emails = append(people[id].Emails, address)
			return err
		}, `SELECT x.account_id, x.address FROM emails x JOIN accounts a ON a.id = x.account_id AND x.verified = TRUE`+
			in+`, x.address`, folded...)
		for _, id := range order {
			if err == nil {
				err = fn(people[id])
			}
		}
		return err
	})
}
