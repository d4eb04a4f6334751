// The program builds the site: each page of docs/ as a static HTML file, with the navigation of docs/nav.md and an
// index for the search in the browser. All links are relative, so the site works from file:// and below any path.
//
//	go run . DOCS-FOLDER OUTPUT-FOLDER
package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// repository is where links lead that leave docs/, to code for example.
const repository = "https://github.com/cluster-init/cluster-init/blob/main/"

//go:embed static
var static embed.FS

type section struct {
	Title string
	Pages []*page
}

type page struct {
	path       string // below docs/
	Title      string
	Section    string // of the navigation; empty for evidence
	Headings   []heading
	Body       template.HTML
	Next, Prev *page
}

type heading struct {
	Level           int
	ID, Title, Text string
}

// URL returns the page's address below the site's root.
func (p *page) URL() string { return strings.TrimSuffix(p.path, ".md") + ".html" }

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site DOCS-FOLDER OUTPUT-FOLDER")
		os.Exit(2)
	}
	if err := build(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func build(docs, output string) error {
	pages, files, err := read(docs)
	if err != nil {
		return err
	}
	contents, err := navigation(docs, pages)
	if err != nil {
		return err
	}
	layout, err := template.ParseFS(static, "static/layout.html")
	if err != nil {
		return err
	}
	for _, p := range pages {
		var html bytes.Buffer
		root := strings.Repeat("../", strings.Count(p.path, "/"))
		data := map[string]any{"Page": p, "Sections": contents, "Root": root, "Source": repository + "docs/" + p.path}
		if err := layout.Execute(&html, data); err != nil {
			return err
		}
		files[p.URL()] = html.Bytes()
	}
	if files["index.js"], err = searchIndex(pages); err != nil {
		return err
	}
	for _, name := range []string{"style.css", "search.js"} {
		if files[name], err = static.ReadFile("static/" + name); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(output); err != nil {
		return err
	}
	for name, content := range files {
		file := filepath.Join(output, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d pages: %s\n", len(pages), filepath.Join(output, "index.html"))
	return nil
}

// read converts each Markdown file below docs, and returns the other files that the site has.
func read(docs string) (pages map[string]*page, files map[string][]byte, err error) {
	pages, files = map[string]*page{}, map[string][]byte{}
	root, kinds := os.DirFS(docs), []string{".md", ".svg", ".png", ".json"}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		kind := path.Ext(name)
		if entry.IsDir() || strings.HasPrefix(name, "site/") || !slices.Contains(kinds, kind) {
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err == nil && kind == ".md" {
			pages[name], err = convert(name, content)
		} else {
			files[name] = content
		}
		return err
	})
	return pages, files, err
}

func convert(name string, content []byte) (*page, error) {
	p := &page{path: name}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM))
	document := markdown.Parser().Parse(text.NewReader(content))
	used := map[string]bool{}
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var words []byte
		switch n := n.(type) {
		case *ast.Heading:
			h := heading{Level: n.Level, Title: strings.ReplaceAll(string(n.Lines().Value(content)), "`", "")}
			h.ID = anchor(h.Title, used)
			n.SetAttributeString("id", []byte(h.ID))
			p.Headings = append(p.Headings, h)
		case *ast.Link:
			n.Destination = []byte(address(name, string(n.Destination)))
		case *ast.Text:
			words = n.Segment.Value(content)
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			words = n.Lines().Value(content)
		}
		if last := len(p.Headings) - 1; last >= 0 && len(words) > 0 {
			p.Headings[last].Text += string(words) + " "
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	if len(p.Headings) == 0 || p.Headings[0].Level != 1 {
		return nil, fmt.Errorf("%s does not begin with a title", name)
	}
	p.Title = p.Headings[0].Title
	var html bytes.Buffer
	err = markdown.Renderer().Render(&html, content, document)
	scrolls := strings.NewReplacer("<table>", `<div class="scroll"><table>`, "</table>", "</table></div>")
	p.Body = template.HTML(scrolls.Replace(html.String()))
	return p, err
}

var dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchor returns the ID that GitHub gives the heading too.
func anchor(title string, used map[string]bool) string {
	base := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
	id := base
	for i := 1; used[id]; i++ {
		id = fmt.Sprintf("%s-%d", base, i)
	}
	used[id] = true
	return id
}

// address turns a link between Markdown files into one between pages; a link out of docs/ leads to the repository.
func address(from, target string) string {
	if strings.Contains(target, ":") || strings.HasPrefix(target, "#") {
		return target
	}
	file, anchor, anchored := strings.Cut(target, "#")
	if whole := path.Join("docs", path.Dir(from), file); !strings.HasPrefix(whole, "docs/") {
		file = repository + whole
	} else if page, is := strings.CutSuffix(file, ".md"); is {
		file = page + ".html"
	}
	if anchored {
		file += "#" + anchor
	}
	return file
}

var sectionLine = regexp.MustCompile(`(?m)^## (.+)$|^- \[(.+)\]\((.+\.md)\)`)

// navigation reads docs/nav.md: a heading for each section, below it a list of its pages.
func navigation(docs string, pages map[string]*page) (all []section, err error) {
	content, err := os.ReadFile(filepath.Join(docs, "nav.md"))
	var last *page
	for _, m := range sectionLine.FindAllStringSubmatch(string(content), -1) {
		if m[1] != "" {
			all = append(all, section{Title: m[1]})
			continue
		}
		p := pages[m[3]]
		if p == nil || len(all) == 0 {
			return nil, fmt.Errorf("nav.md: %s is not a page below a section", m[3])
		}
		current := &all[len(all)-1]
		p.Title, p.Section, p.Prev = m[2], current.Title, last
		if last != nil {
			last.Next = p
		}
		last, current.Pages = p, append(current.Pages, p)
	}
	return all, err
}

// searchIndex has an entry for each heading. It is a script, because a browser reads no JSON from file://.
func searchIndex(pages map[string]*page) ([]byte, error) {
	type entry struct{ P, T, U, X string } // page, title, address, words
	entries := []entry{}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		p := pages[name]
		for _, h := range p.Headings {
			words := strings.Join(strings.Fields(h.Text), " ")
			if p.Section != "" {
				entries = append(entries, entry{p.Title, h.Title, p.URL() + "#" + h.ID, words})
			}
		}
	}
	index, err := json.Marshal(entries)
	return slices.Concat([]byte("window.searchIndex="), index, []byte(";\n")), err
}
