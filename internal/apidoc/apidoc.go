// Package apidoc describes the two interfaces to programs and to people: it
// makes OpenAPI 3.1 documents, and the reference that the pages below /docs show.
//
// The source is YAML: plants.yaml whole, and the files of code-hosting, which
// are parts of one document (two parts that say the same thing twice are an
// error). Paths are those of the route table without dots. It is OpenAPI with a
// few shorthands, which expand.go writes out:
//
//   - From the right of an operation, which the table of routes has, follow x-right, security and the failures
//     that the server itself answers before a handler runs: 301 and 307, 401, 403, 404, 413, 415, 429, 500,
//     503, 507; 400 too where there is a body, and 304 of a GET. What an operation says itself stands.
//   - x-scim: true: these failures have the form of SCIM: ScimNotFound and so on.
//   - x-list: true: the operation has page and per_page, and its answer a Link.
//   - Placeholders for which components.parameters has one of that name need not be
//     named again. One that may hold slashes has x-multi-segment.
//   - x-payload: closed or open on the schema of an object: all its properties are
//     required but those with x-optional; closed: and it has no others. What is
//     closed cannot be part of an allOf; what is open can.
//   - x-kinds of a text/plain body: the kinds that GitHub's clients get as media
//     types of their own.
//   - A body without an example gets one made of the examples of its schema's
//     properties.
//   - operationId is left out: it is the anchor of the documentation.
//
// And with three more words, which are left in it, since OpenAPI has none of its
// own: x-media-types and x-previews, the kinds and previews of media types that
// change what an operation does (Accept cannot be a parameter), and x-empty of an
// answer that may have no body all the same.
//
// https://arbor.example stands for the address of the server in all of it.
//
// Package check holds requests and answers against the documents; every test
// server of package apitest does.
package apidoc

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"strings"
)

//go:embed plants.yaml code-hosting/*.yaml
var sources embed.FS

// Site is the address that stands for the server's own in examples and links.
const Site = "https://arbor.example"

// Rights returns the right of an operation, such as "GET", "/users/{username}", in the words of the table of
// routes; empty if the route does not exist.
type Rights func(method, path string) string

// CodeHosting returns the OpenAPI document of the code-hosting API as JSON. Creating it takes some 20 MiB
// of memory, so callers should cache it. It fails if an operation has no route.
func CodeHosting(rights Rights) ([]byte, error) {
	d, err := loadCodeHosting()
	return render(d, rights, err)
}

// Plants returns the OpenAPI document of the plant store in the same way.
func Plants(rights Rights) ([]byte, error) {
	d, err := loadPlants()
	return render(d, rights, err)
}

// At puts the address of a server, such as http://localhost:8080, in the place
// of the example's in a JSON document.
func At(document []byte, site string) []byte {
	quoted, err := json.Marshal(site)
	if err != nil {
		return document // a string can be written always
	}
	return bytes.ReplaceAll(document, []byte(Site), quoted[1:len(quoted)-1])
}

// Operation is the id of an operation, to which its documentation_url leads:
// get-repos-owner-repo. The pattern is as in the route table or as in the
// documents (decision 15).
func Operation(method, pattern string) string {
	id := strings.ToLower(method) + pattern
	id = strings.NewReplacer("{", "", "}", "", "...", "", "/", "-", "_", "-", ".", "-").Replace(id)
	return strings.TrimSuffix(id, "-")
}

func render(d *document, rights Rights, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if err := d.expand(rights); err != nil {
		return nil, err
	}
	return d.root.json()
}

func loadPlants() (*document, error) {
	text, err := sources.ReadFile("plants.yaml")
	if err != nil {
		return nil, err
	}
	root, err := parse("plants.yaml", text)
	if err != nil {
		return nil, err
	}
	return &document{root: root}, nil
}

func loadCodeHosting() (*document, error) {
	// common.yaml holds the head of the document, so it comes first.
	names := []string{"code-hosting/common.yaml"}
	others, err := fs.Glob(sources, "code-hosting/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range others {
		if name != names[0] {
			names = append(names, name)
		}
	}
	d := &document{root: newObject(), standard: true}
	for _, name := range names {
		text, err := sources.ReadFile(name)
		if err != nil {
			return nil, err
		}
		part, err := parse(name, text)
		if err != nil {
			return nil, err
		}
		if err := d.root.merge(part, 0, name); err != nil {
			return nil, err
		}
	}
	return d, nil
}
