// compiles
import Foundation
import Larder

func uses(
  _ price: SQLExpression<Decimal>, _ count: SQLExpression<Int?>
) -> [SQLExpression<Decimal?>] {
  _ = (count.average(), price.real / 2, price > 3 && price == 4, price * 2 + price)
  return [price.sum(), price.min()]
}
