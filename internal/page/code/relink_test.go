package code

import "testing"

// A picture is a raw file of its repository or comes from elsewhere; it is no other address of the site,
// which a reader's browser would ask for in the reader's name.
func TestPicturesStayInTheRepository(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"pic.png":                                                      `<img src="/alice/garden/raw/main/deep/pic.png" alt="x">`,
		"../pic.png?v=1":                                               `<img src="/alice/garden/raw/main/pic.png?v=1" alt="x">`,
		"../../side/pic.png":                                           `<img src="/alice/garden/raw/side/pic.png" alt="x">`,
		"/alice/garden/raw/v1/p.png":                                   `<img src="/alice/garden/raw/v1/p.png" alt="x">`,
		"https://example.org/p.png":                                    `<img src="https://example.org/p.png" alt="x">`,
		"../../../../../dashboard/notifications/1":                     `<img alt="x">`,
		"/bob/beds/attachments/abcdefghijklmnopqrstuvwxyz":             `<img src="/bob/beds/attachments/abcdefghijklmnopqrstuvwxyz" alt="x">`,
		"/bob/beds/attachments/abcdefghijklmnopqrstuvwxyz/delete":      `<img alt="x">`,
		"../../../settings":                                            `<img alt="x">`,
		"../../../../garden2/raw/main/p.png":                           `<img alt="x">`,
		"%2e%2e/%2E%2e/.%2e/../../dashboard/notifications/1":           `<img alt="x">`,
		"%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/dashboard/notifications/1": `<img alt="x">`,
		"/dashboard/notifications/1":                                   `<img alt="x">`,
		"/alice/garden/raw/../settings":                                `<img alt="x">`,
		"http:dashboard/notifications/1":                               `<img alt="x">`,
		"?x":                                                           `<img alt="x">`,
		".&#9;./.&#9;./../../dashboard/notifications/1":                `<img alt="x">`,
	} {
		got := relink(`<img src="`+from+`" alt="x">`, "/alice/garden/blob/main/deep/a.md",
			"/alice/garden/raw/main/deep/a.md")
		if got != want {
			t.Errorf("%s becomes %s", from, got)
		}
	}
}
