package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mutant is one small change of a package. The instrumented source contains all mutants, each behind a switch.
type mutant struct {
	file string
	line int
	what string
}

// mutator instruments the files of one package. Two passes over the same files give the same mutants.
type mutator struct {
	mutants []mutant
	enabled func(id int) bool // reports whether the mutant becomes part of the source; the others are only listed

	file   string
	source string
	fset   *token.FileSet
	before map[int]string // text to insert at an offset, in front of what starts there
	after  map[int]string // text to insert at an offset, behind what ends there
}

// switches declares mutantOn, the switch of a mutant. A run records the mutants that it reaches if a file is named.
const switches = `package %s

import (
	"os"
	"sync"
)

var (
	mutantActive  = os.Getenv("CLUSTER_INIT_MUTANT")
	mutantRecord  = os.Getenv("CLUSTER_INIT_MUTANT_RECORD")
	mutantReached sync.Map
)

func mutantOn(id string) bool {
	if mutantRecord != "" {
		if _, known := mutantReached.LoadOrStore(id, true); !known {
			if f, err := os.OpenFile(mutantRecord, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				f.WriteString(id + "\n")
				f.Close()
			}
		}
	}
	return id == mutantActive
}
`

// instrument returns the source with its enabled mutants. It only inserts text, and no line breaks: line numbers stay.
func (m *mutator) instrument(file, source string) (string, error) {
	m.file, m.source, m.fset = file, source, token.NewFileSet()
	m.before, m.after = map[int]string{}, map[int]string{}
	parsed, err := parser.ParseFile(m.fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	m.visit(parsed, nil)
	var out strings.Builder
	for offset := range len(source) + 1 {
		out.WriteString(m.after[offset] + m.before[offset])
		if offset < len(source) {
			out.WriteByte(source[offset])
		}
	}
	return out.String(), nil
}

// visit mutates a node and everything below it; result is the last result type of the function around it.
func (m *mutator) visit(root ast.Node, result ast.Expr) {
	ast.Inspect(root, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				m.visit(n.Body, lastResult(n.Type))
			}
			return false
		case *ast.FuncLit:
			m.visit(n.Body, lastResult(n.Type))
			return false
		case *ast.GenDecl:
			return n.Tok == token.VAR // a constant cannot have a switch
		case *ast.BlockStmt:
			m.statements(n.List, result)
		case *ast.CaseClause:
			m.statements(n.Body, result)
		case *ast.CommClause:
			m.statements(n.Body, result)
		case *ast.IfStmt:
			m.condition(n.Cond)
		case *ast.SwitchStmt:
			for _, clause := range n.Body.List {
				for _, condition := range clause.(*ast.CaseClause).List {
					if n.Tag == nil {
						m.condition(condition)
					}
				}
			}
		case *ast.BinaryExpr:
			m.binary(n)
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				m.negate(n, "flip "+n.Name)
			}
		}
		return true
	})
}

func lastResult(f *ast.FuncType) ast.Expr {
	if f.Results == nil {
		return nil
	}
	return f.Results.List[len(f.Results.List)-1].Type
}

func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// statements drops calls and assignments, and returns no error, or the opposite bool.
func (m *mutator) statements(list []ast.Stmt, result ast.Expr) {
	for _, statement := range list {
		switch s := statement.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && !isNamed(call.Fun, "panic") {
				m.insert(s, "drop "+m.text(call.Fun)+"()", "if !ON { ", " }")
			}
		case *ast.AssignStmt:
			if s.Tok == token.ASSIGN && !isNamed(s.Lhs[0], "_") {
				m.insert(s, "drop the assignment to "+m.text(s.Lhs[0]), "if !ON { ", " }")
			}
		case *ast.ReturnStmt:
			if len(s.Results) == 0 {
				continue
			}
			last := s.Results[len(s.Results)-1]
			switch {
			case isNamed(result, "error") && !isNamed(last, "nil"):
				if others := m.text(s)[:m.offset(last.Pos())-m.offset(s.Pos())]; canRepeat(others) {
					m.insert(s, "return a nil error", "if ON { "+oneLine(others)+"nil }; ", "")
				}
			case isNamed(result, "bool") && !isNamed(last, "true") && !isNamed(last, "false"):
				if binary, ok := last.(*ast.BinaryExpr); !ok || !isComparison(binary.Op) {
					m.negate(last, "negate the result")
				}
			}
		}
	}
}

// condition negates what an if or a case decides by. A comparison is changed as such.
func (m *mutator) condition(e ast.Expr) {
	if binary, ok := e.(*ast.BinaryExpr); !ok || !isComparison(binary.Op) {
		m.negate(e, "negate the condition")
	}
}

var swapped = map[token.Token]string{
	token.LAND: "||", token.LOR: "&&", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
}

func isComparison(op token.Token) bool { return op.Precedence() == token.EQL.Precedence() }

func (m *mutator) binary(b *ast.BinaryExpr) {
	if b.Op == token.LAND || b.Op == token.LOR {
		m.replace(b, b.OpPos, b.Op.String(), swapped[b.Op])
		neutral := map[token.Token]string{token.LAND: "(ON || (", token.LOR: "(!ON && ("}[b.Op]
		for _, operand := range []ast.Expr{b.X, b.Y} {
			if inner, ok := operand.(*ast.BinaryExpr); !ok || inner.Op != b.Op {
				m.insert(operand, "leave out "+m.text(operand), neutral, "))")
			}
		}
		return
	}
	if !isComparison(b.Op) {
		return
	}
	m.negate(b, "negate "+m.text(b))
	for _, operand := range []ast.Expr{b.X, b.Y} {
		if literal, ok := operand.(*ast.BasicLit); ok && literal.Kind == token.INT {
			value, _ := strconv.Atoi(literal.Value)
			m.replace(b, literal.Pos(), literal.Value, strconv.Itoa(value+1))
			m.replace(b, literal.Pos(), literal.Value, strconv.Itoa(value-1))
			return
		}
	}
	if other := swapped[b.Op]; other != "" {
		m.replace(b, b.OpPos, b.Op.String(), other)
	}
}

func (m *mutator) negate(e ast.Expr, what string) { m.insert(e, what, "(ON != (", "))") }

// replace puts the same boolean expression with another operator or number in front of it.
func (m *mutator) replace(e ast.Expr, at token.Pos, what, by string) {
	text, cut := m.text(e), m.offset(at)-m.offset(e.Pos())
	if changed := text[:cut] + by + text[cut+len(what):]; canRepeat(changed) {
		m.insert(e, what+" becomes "+by+" in "+text, "(ON && ("+oneLine(changed)+") || !ON && (", "))")
	}
}

// insert registers a mutant. ON in the text around the node is its switch.
func (m *mutator) insert(n ast.Node, what, before, after string) {
	id := len(m.mutants)
	m.mutants = append(m.mutants, mutant{m.file, m.fset.Position(n.Pos()).Line, oneLine(what)})
	if !m.enabled(id) {
		return
	}
	start, end := m.offset(n.Pos()), m.offset(n.End())
	m.before[start] += strings.ReplaceAll(before, "ON", fmt.Sprintf(`mutantOn("%d")`, id))
	m.after[end] = after + m.after[end] // nodes are visited from the outside in
}

func (m *mutator) offset(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *mutator) text(n ast.Node) string { return m.source[m.offset(n.Pos()):m.offset(n.End())] }

// canRepeat reports whether a text stays the same Go when it is written on one line.
func canRepeat(text string) bool {
	broken := []string{"//", "`", "func("}
	return !strings.Contains(text, "\n") ||
		!slices.ContainsFunc(broken, func(b string) bool { return strings.Contains(text, b) })
}

var lineBreak = regexp.MustCompile(`\s*\n\s*`)

func oneLine(text string) string { return lineBreak.ReplaceAllString(text, " ") }
