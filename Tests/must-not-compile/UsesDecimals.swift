// compiles
import Foundation
import Larder

func uses(_ price: SQLExpression<Decimal>, _ name: SQLExpression<Int?>) -> [SQLExpression<Decimal?>] {
  _ = (name.average(), price.cast(to: Double.self) / 2, price > 3 && price == 4, price * 2 + price)
  return [price.sum(), price.min()]
}
