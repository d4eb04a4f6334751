package configuration

import (
	"fmt"
	"io/fs"
	"path/filepath"
)

// Region is the only region's name.
const Region = "RegionOne"

// Computes returns the names of the hosts that servers are placed on. Anti-affinity needs two.
func Computes() []string { return []string{"compute1", "compute2"} }

// Identity returns the address of keystone.
func (i Installation) Identity() string { return "http://" + i.Address + ":5000/v3" }

// Database returns the address of a database, with its password.
func (i Installation) Database(name string) string {
	return fmt.Sprintf("mysql+pymysql://lab:%s@localhost/%s?unix_socket=%s&charset=utf8",
		i.Secrets.Database, name, i.Variable("mariadb.sock"))
}

// messages returns the address of RabbitMQ, with its password.
func (i Installation) messages() string {
	return fmt.Sprintf("rabbit://lab:%s@127.0.0.1:%d/", i.Secrets.Messages, MessagePort)
}

// credentials returns the section with which one service logs in to call others, or to have tokens checked.
func (i Installation) credentials(section, user string) string {
	return fmt.Sprintf(`[%s]
auth_type = password
auth_url = %s
username = %s
password = %s
project_name = service
user_domain_name = Default
project_domain_name = Default
region_name = %s
`, section, i.Identity(), user, i.Secrets.Service, Region)
}

// writeDrivers writes the Python parts as a distribution, which is how neutron and octavia find a driver by its name.
func (i Installation) writeDrivers() error {
	return fs.WalkDir(drivers, "python", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := drivers.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the driver %s: %w", path, err)
		}
		relative, err := filepath.Rel("python", path)
		if err != nil {
			return fmt.Errorf("read the driver %s: %w", path, err)
		}
		return Write(filepath.Join(i.Python(), relative), content)
	})
}
