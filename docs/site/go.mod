// The program that builds the site from docs/. A module of its own: cluster-init itself needs no Markdown.
module github.com/cluster-init/cluster-init/docs/site

go 1.26

require github.com/yuin/goldmark v1.8.7
