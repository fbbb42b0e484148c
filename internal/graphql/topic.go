package graphql

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/search"
	"arbor/internal/web"
)

func newTopic(name string) *object { return &object{kind: "Topic", name: name, whole: true} }

// topicPage is the address of the list of the repositories with a topic.
func topicPage(ctx context.Context, name string) string {
	return web.From(ctx).Page("/search?" + url.Values{"q": {"topic:" + name}}.Encode())
}

// repositoryTopics resolves the topics of a repository.
func repositoryTopics(ctx context.Context, f *exec.Field, o *object) (any, error) {
	topics := o.value.(*repo.FullPayload).Topics
	all := make([]any, len(topics))
	for n, name := range topics {
		page := topicPage(ctx, name)
		all[n] = bare{"RepositoryTopic", map[string]any{"id": idOfName("RepositoryTopic", o.name+" "+name), "url": page,
			"resourcePath": strings.TrimPrefix(page, siteOf(ctx)), "topic": newTopic(name)}}
	}
	return connectAll(f, "RepositoryTopicConnection", all)
}

// topicByName is Query.topic: null if no repository that the caller sees has the topic.
func topicByName(ctx context.Context, f *exec.Field) (any, error) {
	name := strings.ToLower(f.Args["name"].(string))
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil, nil
	}
	page, err := topicPager{Question: search.Question{Text: "topic:" + name}}.pageOf(ctx, queryOf(ctx), &object{}, 1, 1)
	if err != nil || page == nil || page.Total == 0 {
		return nil, err
	}
	return newTopic(name), nil
}

// topicPager loads pages of the repositories that a search finds, one topic after another: each is a search.
type topicPager struct {
	search.Question
	chooses *exec.Field // nil: no arguments choose among them
}

func (l topicPager) group() string {
	group := fmt.Sprint("topic ", l.Text, " ", l.Sort, l.Asc)
	for _, name := range choosingTopics {
		if l.chooses != nil {
			group += fmt.Sprint(" ", l.chooses.Args[name])
		}
	}
	return group
}

// choosingTopics are the arguments that a search does not know.
var choosingTopics = [...]string{"affiliations", "hasIssuesEnabled", "isLocked", "ownerAffiliations", "sponsorableOnly"}

// filters reports whether arguments choose among what the search finds.
func (l topicPager) filters() bool {
	return l.chooses != nil && slices.ContainsFunc(choosingTopics[:], func(name string) bool {
		v := l.chooses.Args[name]
		return v != nil && (name == "hasIssuesEnabled" || name == "affiliations" || !isDefault(l.chooses, name, v))
	})
}

func (l topicPager) loadPage(ctx context.Context, q *query, objects []*object, number, size int) {
	for _, o := range objects {
		l.pageOf(ctx, q, o, number, size)
	}
}

func (l topicPager) pageOf(
	ctx context.Context, q *query, _ *object, number, size int,
) (*web.List[*repo.Payload], error) {
	key := fmt.Sprint(l.group(), " ", number, "/", size)
	if k, ok := q.kept[key]; ok {
		page, _ := k.value.(*web.List[*repo.Payload])
		return page, k.err
	}
	at := web.Page{Number: int64(number), Size: int64(size)}
	read := l.find
	if l.filters() {
		read = l.findChosen
	}
	page, err := read(ctx, q, at)
	if err = q.noteError(err); err == nil {
		err = q.hold(ctx, sizeOfList(page))
	}
	q.kept[key] = kept{value: page, err: err}
	return page, err
}

func (l topicPager) find(ctx context.Context, q *query, page web.Page) (list *web.List[*repo.Payload], err error) {
	if ctx, l.Caller, err = q.on(ctx, "GET /search/repositories"); err != nil {
		return nil, err
	}
	l.Page = page
	found, err := q.load.FindRepositories(ctx, l.Question)
	if err != nil {
		return nil, err
	}
	return &web.List[*repo.Payload]{Rows: repo.NewPayloads(found.Items, web.From(ctx)), Total: found.Total,
		More: found.More(page)}, nil
}

// mostTopics is how many hundreds of repositories with a topic are looked through for those that arguments choose.
const mostTopics = 10

// findChosen is find for those that arguments choose.
func (l topicPager) findChosen(ctx context.Context, q *query, at web.Page) (*web.List[*repo.Payload], error) {
	var all []*repo.Payload
	for n := int64(1); n <= mostTopics; n++ {
		page, err := l.find(ctx, q, web.Page{Number: n, Size: web.MaxPageSize})
		if err != nil {
			return nil, err
		}
		for _, p := range page.Rows {
			if l.chosen(ctx, p) {
				all = append(all, p)
			}
		}
		if !page.More {
			break
		}
	}
	begin := min(int(at.Offset()), len(all))
	return web.ListOf(at, all[begin:min(begin+int(at.Size), len(all))], int64(len(all))), nil
}

// chosen reports whether the arguments choose a repository.
func (l topicPager) chosen(ctx context.Context, p *repo.Payload) bool {
	for _, name := range [...]string{"affiliations", "ownerAffiliations"} {
		given, ok := l.chooses.Args[name].([]any)
		if ok && !isDefault(l.chooses, name, l.chooses.Args[name]) && !affiliated(ctx, p, given) {
			return false
		}
	}
	return choosesRepository(l.chooses, newRepository(p)) && l.chooses.Args["sponsorableOnly"] != true
}

// topicRepositories resolves the repositories with a topic that the caller sees, those with most stars first.
func topicRepositories(_ context.Context, f *exec.Field, o *object) (pages[*repo.Payload], error) {
	by, desc, err := orderBy(f, map[string]string{"STARGAZERS": "stars", "UPDATED_AT": "updated"})
	if err != nil {
		return pages[*repo.Payload]{}, err
	}
	if by == "" {
		by, desc = "stars", true
	}
	text := "topic:" + o.name
	for _, name := range [...]string{"privacy", "visibility"} {
		if word, ok := f.Args[name].(string); ok {
			text += " is:" + strings.ToLower(word)
		}
	}
	pager := topicPager{Question: search.Question{Text: text, Sort: by, Asc: !desc}, chooses: f}
	return pages[*repo.Payload]{kind: "RepositoryConnection", many: pager,
		key: func(p *repo.Payload) string { return decimal(int64(p.ID)) }, node: repositoryNode}, nil
}

func topicFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id":   key(func(o *object) any { return idOfName("Topic", o.name) }),
		"name": key(func(o *object) any { return o.name }), "repositories": connections(topicRepositories),
	}
}
