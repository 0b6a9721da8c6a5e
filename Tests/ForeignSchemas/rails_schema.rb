# The tables that Rails (ActiveRecord) makes for a model of each type that Larder's records have.
#
#     rails_schema.rb sqlite FILE
#     rails_schema.rb postgres FOLDER USER DATABASE

require "active_record"

engine, place, user, database = ARGV
address =
  if engine == "postgres"
    { adapter: "postgresql", host: place, username: user, database: database }
  else
    { adapter: "sqlite3", database: place }
  end
ActiveRecord::Base.establish_connection(address)
ActiveRecord::Migration.verbose = false

class CreateShop < ActiveRecord::Migration[6.1]
  def change
    create_table :customers do |t|
      t.string :email, null: false, index: { unique: true }
      t.string :name, limit: 80, null: false, default: ""
      t.boolean :active, null: false, default: true
      t.decimal :credit, precision: 10, scale: 2
      t.float :rating
      t.date :born_on
      t.integer :visits, null: false, default: 0
      t.bigint :points
      t.text :notes
      t.binary :avatar
      t.json :settings
      t.timestamps
    end
    create_table :orders do |t|
      t.references :customer, null: false, foreign_key: { on_delete: :cascade }
      t.string :number, null: false
      t.datetime :shipped_at
      t.integer :lock_version, null: false, default: 0
      t.timestamps
      t.index [:customer_id, :number], unique: true
      t.index :shipped_at, where: "shipped_at IS NOT NULL", name: "shipped_orders"
    end
    create_join_table :orders, :customers, table_name: :followers
  end
end

context = ActiveRecord::MigrationContext.new("", ActiveRecord::SchemaMigration)
ActiveRecord::SchemaMigration.create_table
ActiveRecord::InternalMetadata.create_table
CreateShop.new.migrate(:up)
ActiveRecord::SchemaMigration.create!(version: "20240517123015")
ActiveRecord::InternalMetadata[:environment] = "production"

class Customer < ActiveRecord::Base; end
class Order < ActiveRecord::Base; end

moment = Time.utc(2024, 5, 17, 12, 30, 15, 250_000)
ActiveRecord::InternalMetadata.update_all(created_at: moment, updated_at: moment)
ada = Customer.create!(
  email: "ada@example.com", name: "Ada", credit: "12.50", rating: 4.5, born_on: "1815-12-10",
  points: 9_007_199_254_740_993, notes: "it's “here”", avatar: "\x00\xff".b,
  settings: { theme: "dark", sizes: [1, 2] }, created_at: moment, updated_at: moment)
Customer.create!(email: "bob@example.com", created_at: moment, updated_at: moment)
Order.create!(
  customer_id: ada.id, number: "A1", shipped_at: moment, created_at: moment, updated_at: moment)
