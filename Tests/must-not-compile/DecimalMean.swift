// error: quotients, means and totals of decimal numbers aren't exact: use `real` first
import Foundation
import Larder

func mean(_ price: SQLExpression<Decimal>) -> SQLExpression<Double?> { price.average() }
