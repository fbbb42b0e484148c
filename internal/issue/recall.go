package issue

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue/index"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/posting"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// names finds what the parameters of a list name.
type names interface {
	milestone(number int64) (*milestone.Milestone, error) // 404
	logins(list []string) (map[string]*account.Account, error)
	labels(list []string) (map[string]*label.Label, error)
}

// namesInSQL looks names up in a repository.
type namesInSQL struct {
	tx   *db.Tx
	repo int64
}

func (n namesInSQL) milestone(number int64) (*milestone.Milestone, error) {
	return milestone.ByNumber(n.tx, n.repo, number)
}

func (n namesInSQL) logins(list []string) (map[string]*account.Account, error) {
	return account.ByLogins(n.tx, list)
}

func (n namesInSQL) labels(list []string) (map[string]*label.Label, error) {
	return label.Named(n.tx, n.repo, list)
}

// recall makes a page of a repository's issues from what is kept in memory.
type recall struct {
	s      *Service
	a      *repo.Access
	choose func(n names) (q posting.Query, ok bool, err error)
	at     web.Page
	x      *indexed

	// What the last try missed.
	now    bool // the index has not reached the generation that the request knows
	legend bool
	rows   []int64
	people []int64
	named  []string
	roles  []int64

	hopeless bool // something is not there at all
}

// recallTries is how often what is missing is looked for: what that is becomes
// known step by step (the legend, rows, who is in them), and others may change it
// meanwhile.
const recallTries = 5

// recall fills a page. ok is false where SQL must make it.
func (s *Service) recall(ctx context.Context, p *page, a *repo.Access, at web.Page, choose func(n names) (posting.Query, bool, error)) (total int64, ok bool, err error) {
	r := &recall{s: s, a: a, choose: choose, at: at}
	for range recallTries {
		if r.x = s.indexes.get(r.a.ID); r.x == nil {
			return 0, false, nil
		}
		total, ok, err := r.try(p)
		if ok || err != nil || !r.missed() {
			return total, ok, err
		}
		if err := s.db.Read(ctx, r.read); err != nil || r.hopeless {
			return 0, false, err
		}
	}
	return 0, false, nil
}

// rollups reads the reactions to the issues of a page, where it shows them.
func (s *Service) rollups(ctx context.Context, p *page) error {
	var reacted []int64
	for _, i := range p.issues {
		if i.Reacted {
			reacted = append(reacted, i.ID)
		}
	}
	if len(reacted) == 0 || !p.info.Media.Preview(web.Reactions) {
		return nil
	}
	return s.db.Read(ctx, func(tx *db.Tx) (err error) {
		p.rollups, err = reaction.Rollups(tx, reaction.Issue, reacted)
		return err
	})
}

func (r *recall) missed() bool {
	return r.now || r.legend || len(r.rows)+len(r.people)+len(r.named)+len(r.roles) > 0
}

// try fills the page, or notes what is missing.
func (r *recall) try(p *page) (total int64, ok bool, err error) {
	r.now, r.legend, r.rows, r.people, r.named, r.roles = false, false, nil, nil, nil, nil
	known := r.s.indexes.peopleAt(r.a.AccountsGeneration)
	r.x.mu.RLock()
	defer r.x.mu.RUnlock()
	l := r.x.kept.legend
	r.now = r.x.generation.issues < r.a.IssuesGeneration
	r.legend = l == nil || l.generation != r.x.generation.legend
	if known == nil || r.x.index == nil || r.missed() || l.tooMuch {
		return 0, false, nil
	}
	p.issues = nil
	q, some, err := r.choose(&namesKept{r, l, known})
	if err != nil || len(r.named) > 0 || !some {
		return 0, err == nil && !some && len(r.named) == 0, err
	}
	chosen := r.x.index.Select(partInIndex(&q, &q.Parts[0]))
	total = int64(chosen.Total())
	for _, id := range index.Page([]*index.Selection{chosen}, index.Order(q.Order), int(min(r.at.Offset(), total)), int(r.at.Size)) {
		if i := r.x.kept.rows[id]; i != nil {
			p.issues = append(p.issues, i)
		} else {
			r.rows = append(r.rows, id)
		}
	}
	r.dress(p, l, known)
	return total, !r.missed(), nil
}

// dress gives the page what its issues refer to.
func (r *recall) dress(p *page, l *legend, known *people) {
	p.legend, p.shared = l, known
	p.self = p.info.Prefix + " " + p.info.Site
	at := p.places[r.a.ID] // pieces of the legend hold accounts, too, and the repository's name
	p.base = at.API + " " + at.Page + " " + itoa(known.generation)
	p.labels = l.labels
	p.milestones = map[int64]*milestone.Milestone{}
	people := p.authors()
	p.roles, r.roles = l.rolesAt(r.a.AccountsGeneration, r.a.Insider(), r.a.ID, people)
	for _, i := range p.issues {
		people = append(people, i.Assignees...)
		if m := l.milestones[i.MilestoneID]; m != nil && p.milestones[m.ID] == nil {
			counted := *m
			counted.OpenIssues, counted.ClosedIssues = l.count(r.x, m.ID)
			p.milestones[m.ID] = &counted
			people = append(people, m.CreatorID)
		}
	}
	p.people, r.people = known.find(db.Unique(people))
}

// namesKept looks names up in memory.
type namesKept struct {
	r *recall
	l *legend
	y *people
}

func (n *namesKept) milestone(number int64) (*milestone.Milestone, error) {
	if m := n.l.numbered[number]; m != nil {
		return m, nil
	}
	return nil, errs.Absent()
}

// logins notes those that are not known. Whoever asks finds nobody then, and asks
// again.
func (n *namesKept) logins(list []string) (map[string]*account.Account, error) {
	found := map[string]*account.Account{}
	for _, login := range list {
		if a := n.y.named(login); a != nil {
			found[account.Fold(login)] = a
		} else {
			n.r.named = append(n.r.named, login)
		}
	}
	return found, nil
}

func (n *namesKept) labels(list []string) (map[string]*label.Label, error) {
	found := map[string]*label.Label{}
	for _, name := range list {
		if l := n.l.named[label.Fold(name)]; l != nil {
			found[label.Fold(name)] = l
		}
	}
	return found, nil
}

// read reads what is missing, and keeps it where the index is as the snapshot.
func (r *recall) read(tx *db.Tx) error {
	at, err := r.s.indexes.catchUp(tx, r.x)
	if err != nil || at == 0 {
		return err
	}
	rows, err := ByIDs(tx, r.rows)
	if err != nil {
		return err
	}
	var l *legend
	if r.legend {
		if l, err = readLegend(tx, r.a.ID); err != nil {
			return err
		}
	}
	if err := r.readPeople(tx); err != nil {
		return err
	}
	r.x.keep(at, rows, l)
	r.s.indexes.trim(r.x)
	return nil
}

// readPeople reads the accounts and roles that are missing, and keeps them. A
// login that names nobody is never kept: such a list is empty, and SQL's.
func (r *recall) readPeople(tx *db.Tx) error {
	if len(r.people)+len(r.named)+len(r.roles) == 0 {
		return nil
	}
	generation, err := tx.Generation(account.Topic)
	if err != nil {
		return err
	}
	found, err := account.ByIDs(tx, r.people)
	if err != nil {
		return err
	}
	named, err := account.ByLogins(tx, r.named)
	if err != nil {
		return err
	}
	r.hopeless = len(found) < len(r.people) || len(named) < len(r.named)
	for _, a := range named {
		found[a.ID] = a
	}
	if known := r.s.indexes.peopleAt(generation); known != nil {
		known.add(found)
	}
	if len(r.roles) == 0 {
		return nil
	}
	legend, err := generationOf(tx, r.a.ID)
	if err != nil {
		return err
	}
	roles, err := associations(tx, map[int64]*repo.Access{r.a.ID: r.a}, r.roles)
	if err != nil {
		return err
	}
	byUser := make(map[int64]string, len(r.roles))
	for _, id := range r.roles {
		byUser[id] = roles[roleKey{r.a.ID, id}]
	}
	r.x.mu.RLock()
	defer r.x.mu.RUnlock()
	if l := r.x.kept.legend; l != nil && l.generation == legend.legend {
		l.addRoles(generation, r.a.Insider(), byUser)
	}
	return nil
}

// readLegend reads the labels and milestones of a repository.
func readLegend(tx *db.Tx, repoID int64) (*legend, error) {
	g, err := generationOf(tx, repoID)
	if err != nil {
		return nil, err
	}
	labels, err := label.First(tx, repoID, maxLegend+1)
	if err != nil {
		return nil, err
	}
	milestones, err := milestone.First(tx, repoID, maxLegend+1)
	if err != nil {
		return nil, err
	}
	if len(labels) > maxLegend || len(milestones) > maxLegend {
		return &legend{generation: g.legend, tooMuch: true}, nil
	}
	return newLegend(g.legend, labels, milestones), nil
}
